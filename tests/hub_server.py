"""As much of the Hugging Face Hub as its client asks of it, on the loopback interface."""

import base64
import hashlib
import json
import threading
from contextlib import contextmanager
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import unquote, urlparse


class Handler(BaseHTTPRequestHandler):
    """Repositories of whole files; everything is stored as the client first sends it."""

    protocol_version = "HTTP/1.1"
    repos: ClassVar[dict[str, dict[str, bytes]]]
    private: ClassVar[dict[str, bool]]

    def log_message(self, format, *args):
        pass

    def answer(self, code, body=b"", **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        for name, value in {"Content-Length": len(body), **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def sent(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def do_POST(self):
        body, path = self.sent(), unquote(urlparse(self.path).path)
        if path == "/api/validate-yaml":
            return self.answer(200, {"errors": [], "warnings": []})
        if self.headers.get("Authorization") != "Bearer hf_writer":
            return self.answer(401, {"error": "Invalid username or password."})
        if path == "/api/repos/create":
            asked = json.loads(body)
            repo = f"{asked['organization']}/{asked['name']}"
            self.repos.setdefault(repo, {})
            self.private[repo] = "private" in (
                asked.get("visibility"),
                asked.get("private") and "private",
            )
            return self.answer(200, {"url": f"http://{self.headers['Host']}/{repo}", "id": repo})
        repo, what = "/".join(path.split("/")[3:5]), path.split("/")[5]
        files = self.repos[repo]
        if what == "preupload":
            asked = json.loads(body)["files"]
            modes = [
                {"path": f["path"], "uploadMode": "regular", "shouldIgnore": False} for f in asked
            ]
            return self.answer(200, {"files": modes})
        for line in map(json.loads, body.splitlines()):
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        commit = f"http://{self.headers['Host']}/{repo}/commit/{revision(files)}"
        return self.answer(200, {"commitUrl": commit, "commitOid": revision(files)})

    def do_GET(self):
        parts = unquote(urlparse(self.path).path).strip("/").split("/")
        of_files = parts[2:3] == ["resolve"]
        repo = "/".join(parts[:2] if of_files else parts[2:4])
        if repo not in self.repos:
            return self.answer(404, {"error": "Repository not found"}, X_Error_Code="RepoNotFound")
        files = self.repos[repo]
        if of_files:
            content = files["/".join(parts[4:])]
            tag = f'"{hashlib.sha1(content).hexdigest()}"'
            return self.answer(200, content, ETag=tag, X_Repo_Commit=revision(files))
        if parts[4:5] == ["revision"] and parts[5] not in ("main", revision(files)):
            return self.answer(404, {"error": "none"}, X_Error_Code="RevisionNotFound")
        if parts[4:5] == ["tree"]:
            tree = [
                {"type": "file", "path": name, "size": len(c), "oid": hashlib.sha1(c).hexdigest()}
                for name, c in files.items()
            ]
            return self.answer(200, tree)
        siblings = [{"rfilename": name} for name in files]
        about = {"id": repo, "sha": revision(files), "siblings": siblings, "tags": []}
        return self.answer(200, about)

    do_HEAD = do_GET


def revision(files):
    """A name for this state of a repository."""
    return hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()


@contextmanager
def serve():
    """The handler's class, with its repositories, and the address."""
    handler = type("Hub", (Handler,), {"repos": {}, "private": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield handler, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def matching(files, pattern):
    """Names of files that match a pattern."""
    return {name for name in files if fnmatch(name, pattern)}
