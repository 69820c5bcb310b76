"""Runs ClickHouse out of the shared library of chDB, which holds the whole server.

Arguments: LIBRARY, UID:GID (empty: keep the caller's user), then those of the server. The library
is loaded before the user changes, so it may be in a folder that the server's user cannot read.
"""

import ctypes
import os
import sys


class Result(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_void_p)]


library, user = sys.argv[1:3]
arguments = [b"clickhouse"] + [a.encode() for a in sys.argv[3:]]
lib = ctypes.CDLL(library, mode=os.RTLD_NOW)
lib.chdb_query_cmdline.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
lib.chdb_query_cmdline.restype = ctypes.POINTER(Result)
lib.chdb_result_error.argtypes = [ctypes.POINTER(Result)]
lib.chdb_result_error.restype = ctypes.c_char_p
if user:
    uid, gid = (int(part) for part in user.split(":"))
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
argv = (ctypes.c_char_p * len(arguments))(*arguments)
error = lib.chdb_result_error(lib.chdb_query_cmdline(len(arguments), argv))
sys.exit(error.decode() if error else 0)
