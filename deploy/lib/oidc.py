"""A small OpenID provider of the standard library's and openssl's, for scripts that need somebody to log in or to issue tokens."""

import base64
import hashlib
import http.server
import json
import secrets
import subprocess
import threading
import time
import urllib.parse

import rack


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    """An RSA key pair of openssl's, with a certificate of its own, as some readers of keys want one."""

    def __init__(self, folder):
        self._file, certificate = folder / "issuer.key", folder / "issuer.der"
        self._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=issuer", "-keyout", self._file,
                      "-outform", "DER", "-out", certificate)
        self.thumbprint = hashlib.sha1(certificate.read_bytes()).hexdigest().upper()
        modulus = self._openssl("rsa", "-in", self._file, "-noout", "-modulus").decode().strip().split("=")[1]
        self.public = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "one", "n": encoded(bytes.fromhex(modulus)),
                       "e": "AQAB", "x5c": [base64.b64encode(certificate.read_bytes()).decode()]}

    @staticmethod
    def _openssl(*words, data=b""):
        return subprocess.run(["openssl", *map(str, words)], input=data, capture_output=True, check=True).stdout

    def token(self, claims):
        head = {"alg": "RS256", "kid": "one", "typ": "JWT"}
        text = f"{encoded(json.dumps(head).encode())}.{encoded(json.dumps(claims).encode())}"
        return f"{text}.{encoded(self._openssl('dgst', '-sha256', '-sign', self._file, data=text.encode()))}"


class Provider(http.server.ThreadingHTTPServer):
    """Logs in whoever comes to `client`, as the user that `groups` are of."""

    def __init__(self, folder, client):
        super().__init__((rack.LOOPBACK, 0), Answers)
        self.address = f"{rack.LOOPBACK}:{self.server_port}"
        self.name, self.key = f"http://{self.address}", Key(folder)
        self.client, self.groups, self.nonces = client, [], {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def token(self, **more):
        """Says that a user was here, to the client."""
        now = int(time.time())
        return self.key.token({"iss": self.name, "aud": self.client, "sub": "1", "email": "ann@example.com", "email_verified": True,
                               "iat": now, "exp": now + 600, "groups": self.groups, **more})


class Answers(http.server.BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        asked = dict(urllib.parse.parse_qsl(url.query))
        if url.path == "/.well-known/openid-configuration":
            name = self.server.name
            self._say({"issuer": name, "authorization_endpoint": f"{name}/login", "token_endpoint": f"{name}/token",
                       "jwks_uri": f"{name}/keys", "id_token_signing_alg_values_supported": ["RS256"],
                       "response_types_supported": ["code"], "subject_types_supported": ["public"]})
        elif url.path == "/keys":
            self._say({"keys": [self.server.key.public]})
        else:
            code = secrets.token_hex(8)
            self.server.nonces[code] = asked.get("nonce")
            self.send_response(302)
            self.send_header("Location", f"{asked['redirect_uri']}?code={code}&state={urllib.parse.quote(asked['state'])}")
            self.end_headers()

    def do_POST(self):
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["content-length"])).decode()))
        self._say({"access_token": "access", "token_type": "Bearer", "expires_in": 600,
                   "id_token": self.server.token(nonce=self.server.nonces.pop(form["code"]))})

    def _say(self, document):
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
