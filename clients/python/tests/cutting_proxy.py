"""A TCP proxy that cuts connections, also in the middle of a message."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import cycle

BYTES = (9_000, 700, 30_000, 300, 15_001)
"""How much each connection in turn passes on before it is cut; some end within the handshake."""


class CuttingProxy:
    """Forwards connections to a port. Each ends after some bytes of the server."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._budgets = cycle(BYTES)
        self.port = self._listener.getsockname()[1]
        self.cuts = 0

    def run(self) -> None:
        """Accepts connections until `close`."""
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(
                    target=self._forward, args=(client, next(self._budgets)), daemon=True
                ).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _forward(self, client: socket.socket, budget: int) -> None:
        with (
            client,
            suppress(OSError),
            socket.create_connection(("127.0.0.1", self._target)) as server,
        ):
            threading.Thread(target=pump, args=(client, server), daemon=True).start()
            while budget > 0 and (data := server.recv(min(budget, 65_536))):
                client.sendall(data)
                budget -= len(data)
            self.cuts += 1
            for end in (client, server):
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)


def pump(source: socket.socket, sink: socket.socket) -> None:
    """Copies bytes until either end is gone."""
    with suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)


@contextmanager
def cutting_proxy(target: int) -> Iterator[CuttingProxy]:
    """A running proxy to a port of this machine."""
    proxy = CuttingProxy(target)
    thread = threading.Thread(target=proxy.run)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
        thread.join()
