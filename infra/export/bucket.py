"""Serves S3 from memory, with a bucket, until it is ended. Arguments: a port, the bucket.

The first PUT of `.../late/.../manifest.json` waits for five seconds, as on a slow network; each PUT
there is logged when it arrives.
"""

import signal
import sys
import time

import boto3
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from moto.server import ThreadedMotoServer

LATE_SECONDS = 5

serve = DomainDispatcherApplication.__call__
arrived = []


def serve_late(self, environ, start_response):
    path = environ["PATH_INFO"]
    if environ["REQUEST_METHOD"] == "PUT" and "/late/" in path and path.endswith("/manifest.json"):
        arrived.append(path)
        print(f"arrived: {path}", file=sys.stderr, flush=True)
        if len(arrived) == 1:
            time.sleep(LATE_SECONDS)
    return serve(self, environ, start_response)


port, bucket = sys.argv[1:]
DomainDispatcherApplication.__call__ = serve_late
ThreadedMotoServer("127.0.0.1", int(port), verbose=False).start()
keys = {"aws_access_key_id": "any", "aws_secret_access_key": "any", "region_name": "us-east-1"}
url = f"http://127.0.0.1:{port}"
boto3.client("s3", endpoint_url=url, **keys).create_bucket(Bucket=bucket)
print("ready", flush=True)
signal.pause()
