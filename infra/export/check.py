"""Compares exported files with the views of analysts, as DuckDB and polars read them.

Arguments: the folder of an export, `views` and the URL of ClickHouse, or `bucket`, the URL of S3,
the bucket and the prefix, whose objects must be those of the folder.
"""

import hashlib
import json
import sys
import urllib.parse
import urllib.request
from pathlib import Path

TIMES = {
    "sol_prices": "time",
    "token_prices": "minute",
    "pnl_hours": "hour",
    "token_hours": "hour",
    "watchlist": "at",
    "signals": "fired_at",
}
DAY = 86400
# DuckDB fetches extensions otherwise.
NO_EXTENSIONS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


def ask(url, sql):
    """The rows of a query. ClickHouse's own text of each column, which loses no digit."""
    parts = urllib.parse.urlsplit(url)
    settings = {
        "database": parts.path[1:],
        "wait_end_of_query": 1,
        "output_format_json_quote_64bit_integers": 1,
        "output_format_json_quote_decimals": 1,
        "date_time_output_format": "unix_timestamp",
    }
    request = urllib.request.Request(
        f"http://{parts.hostname}:{parts.port}/?{urllib.parse.urlencode(settings)}",
        data=f"{sql} FORMAT JSONEachRow".encode(),
        headers={"X-ClickHouse-User": parts.username, "X-ClickHouse-Key": parts.password},
    )
    with urllib.request.urlopen(request) as answer:
        return [json.loads(line) for line in answer.read().splitlines()]


def view_rows(url, table, day):
    """The rows of a view that belong to a day, which begins at these unix seconds."""
    source, condition = f"analyst.{table}", f"day = toDate(toDateTime({day}, 'UTC'))"
    if table == "positions":
        source, condition = f"analyst.positions_at(at = {day + DAY - 1})", "1"
    elif table != "wallet_days":
        time = TIMES.get(table, "block_time")
        condition = f"{time} >= {day} AND {time} < {day + DAY}"
    return ask(url, f"SELECT * FROM {source} WHERE {condition}")


def plain(value):
    """A value in a form that is the same from each reader."""
    if isinstance(value, dict):
        return tuple(plain(one) for one in value.values())
    if isinstance(value, list):
        return tuple(plain(one) for one in value)
    if isinstance(value, float):
        return repr(value + 0.0)
    if hasattr(value, "timestamp"):
        return str(int(value.timestamp()))
    return None if value is None else str(value)


def compare(name, table, rows, expected, columns):
    """Rows, in any order, with every column of the view. Columns of doubles are those of JSON."""

    def texts(row):
        return tuple(
            plain(float(row[c])) if c in doubles and row[c] is not None else plain(row[c])
            for c in columns
        )

    doubles = {c for row in rows for c in columns if isinstance(row[c], float)}
    key = lambda row: tuple(str(one) for one in row)
    found, wanted = sorted(map(texts, rows), key=key), sorted(map(texts, expected), key=key)
    if found != wanted:
        different = [pair for pair in zip(found, wanted) if pair[0] != pair[1]][:1]
        sys.exit(f"{table}: {name} reads {len(found)} rows, the view has {len(wanted)}: {different}")


def check_views(folder, url):
    import duckdb
    import polars

    rows = 0
    for manifest in sorted(folder.glob("*/manifest.json")):
        content = json.loads(manifest.read_text())
        table, columns = content["table"], [column["name"] for column in content["columns"]]
        for entry in content["files"]:
            path = manifest.parent / entry["file"]
            data = path.read_bytes()
            digest = hashlib.sha256(data).hexdigest()
            if (len(data), digest) != (entry["bytes"], entry["sha256"]):
                sys.exit(f"{path} is not what its manifest says")
            day = int(ask(url, f"SELECT toUnixTimestamp('{entry['day']} 00:00:00', 'UTC') AS day")[0]["day"])
            expected = view_rows(url, table, day)
            with duckdb.connect(config=NO_EXTENSIONS) as db:
                relation = db.sql(f"SELECT * FROM '{path}'")
                names = relation.columns
                by_duckdb = [dict(zip(names, row)) for row in relation.fetchall()]
            by_polars = polars.read_parquet(path).to_dicts()
            if names != columns or len(expected) != entry["rows"]:
                sys.exit(f"{path} has other columns, or rows, than its manifest says")
            compare("DuckDB", table, by_duckdb, expected, columns)
            compare("polars", table, by_polars, expected, columns)
            rows += len(expected)
    if rows == 0:
        sys.exit("nothing was compared")
    print(f"DuckDB and polars read the {rows} rows of the views")


def check_bucket(folder, url, bucket, prefix):
    import boto3

    keys = {"aws_access_key_id": "any", "aws_secret_access_key": "any", "region_name": "us-east-1"}
    objects = boto3.resource("s3", endpoint_url=url, **keys).Bucket(bucket).objects
    found = {
        one.key[len(prefix) + 1 :]: one.get()["Body"].read()
        for one in objects.filter(Prefix=f"{prefix}/")
    }
    expected = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    different = sorted(
        name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name)
    )
    if different or not expected:
        for name in [one for one in different if one.endswith(".json")][:1]:
            print(f"{name}: the bucket has {found.get(name)}, the folder {expected.get(name)}")
        sys.exit(f"the bucket differs from the folder in {different}")
    print(f"the {len(found)} objects under {prefix} are the files of the folder, byte for byte")


folder, what, *arguments = sys.argv[1:]
{"views": check_views, "bucket": check_bucket}[what](Path(folder), *arguments)
