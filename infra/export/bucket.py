"""Serves S3 from memory on a free port of 127.0.0.1, with the bucket of the argument.

Prints its URL, then runs until it is ended.
"""

import signal
import sys

import boto3
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer("127.0.0.1", 0)
server.start()
host, port = server.get_host_and_port()
url = f"http://{host}:{port}"
keys = {"aws_access_key_id": "any", "aws_secret_access_key": "any", "region_name": "us-east-1"}
boto3.client("s3", endpoint_url=url, **keys).create_bucket(Bucket=sys.argv[1])
print(url, flush=True)
signal.pause()
