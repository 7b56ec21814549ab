"""viser's web server as `csd explore` wants it: on this machine, without tunnels, silent."""

import contextlib
import errno
import io
import logging
import socket

import viser

from csd.errors import UserError, require


class Server(viser.ViserServer):
    """It never opens a tunnel to the world, and keeps its banner to itself."""

    def __init__(self, host: str, port: int) -> None:
        # A browser that goes away at the wrong moment is nobody's mistake.
        logging.getLogger("websockets").setLevel(logging.CRITICAL)
        with contextlib.redirect_stdout(io.StringIO()):
            super().__init__(host=host, port=port, label="csd explore", verbose=False)
        self.gui.configure_theme(show_logo=False, show_share_button=False, dark_mode=True)

    @property
    def address(self) -> str:
        """What to type into a browser on this machine."""
        host = self.get_host()
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(
            host, f"[{host}]" if ":" in host else host
        )
        return f"http://{host}:{self.get_port()}"

    def request_share_url(self, verbose: bool = True) -> str | None:
        """A browser may ask for a public address; there is none."""
        return None

    def stop(self) -> None:
        """End it without a word."""
        with contextlib.redirect_stdout(io.StringIO()):
            super().stop()


def free_port(host: str, port: int) -> int:
    """The port if it can be had, 0 for any that is free; viser itself would silently move on."""
    require(0 <= port < 65536, f"port must be from 0 to 65535, not {port}")
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
            return trial.getsockname()[1]
    except OSError as error:
        if error.errno == errno.EADDRINUSE and port:
            raise UserError(f"port {port} is taken: try --port {free_port(host, 0)}") from None
        why = error.strerror or error
        raise UserError(f"cannot listen on {host}, port {port}: {why}") from None
