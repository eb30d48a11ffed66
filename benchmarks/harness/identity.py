"""An issuer of tokens in a folder, and credentials of a session that the gateway gives for one of its tokens."""

import base64
import json
import re
import subprocess
import time
import urllib.parse
import urllib.request

ISSUER = "https://issuer.bench.invalid"
AUDIENCE = "railhead"
ROLE = "bench-role"


def text_of(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """Its key is an RSA key of OpenSSL's."""

    def __init__(self, folder):
        self._key = folder / "issuer.pem"
        subprocess.run(["openssl", "genrsa", "-out", self._key, "2048"], check=True, capture_output=True)
        modulus = subprocess.run(["openssl", "rsa", "-in", self._key, "-noout", "-modulus"], check=True, capture_output=True,
                                 text=True).stdout.strip().removeprefix("Modulus=")
        self._jwks = folder / "issuer.jwks"
        self._jwks.write_text(json.dumps({"keys": [{
            "kty": "RSA", "kid": "bench", "use": "sig", "alg": "RS256", "n": text_of(bytes.fromhex(modulus)), "e": "AQAB"}]}))

    def web_identity(self):
        """For the gateway's configuration."""
        return {"issuers": [{"issuer": ISSUER, "audiences": [AUDIENCE], "jwks_file": str(self._jwks)}]}

    @staticmethod
    def role(backend_keys):
        """For the gateway's credentials file."""
        return {"name": ROLE, "issuer": ISSUER, "claims": {"sub": "*"}, "principal": "bench-pod",
                "backend_credential": {"access_key": backend_keys[0], "secret_key": backend_keys[1]}, "max_session": "1h"}

    def token(self):
        now = int(time.time())
        parts = {"alg": "RS256", "kid": "bench"}, {"iss": ISSUER, "aud": AUDIENCE, "sub": "bench", "iat": now, "exp": now + 3600}
        signed = ".".join(text_of(json.dumps(part).encode()) for part in parts)
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self._key], input=signed.encode(), check=True,
                                   capture_output=True).stdout
        return f"{signed}.{text_of(signature)}"

    def session(self, host):
        """Access key, secret key and session token."""
        form = urllib.parse.urlencode({
            "Action": "AssumeRoleWithWebIdentity", "Version": "2011-06-15", "RoleArn": f"arn:aws:iam::000000000000:role/{ROLE}",
            "RoleSessionName": "bench", "WebIdentityToken": self.token()})
        with urllib.request.urlopen(f"http://{host}/", form.encode(), timeout=30) as answer:
            document = answer.read().decode()
        return tuple(re.search(f"<{name}>([^<]+)<", document).group(1) for name in ("AccessKeyId", "SecretAccessKey", "SessionToken"))
