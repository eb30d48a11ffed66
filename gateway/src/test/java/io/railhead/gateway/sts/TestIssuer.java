package io.railhead.gateway.sts;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** An OpenID provider: its document, its keys, and tokens as a Kubernetes API server makes them. */
final class TestIssuer implements AutoCloseable {
    static final String AUDIENCE = "sts.amazonaws.com";

    private final HttpServer server;
    private final AtomicInteger fetches = new AtomicInteger();
    private volatile ECKey key = key("first");
    private volatile boolean down;

    TestIssuer() {
        try {
            server = HttpServer.create(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        serve("/.well-known/openid-configuration", () -> """
                {"issuer": "%s", "jwks_uri": "%s/keys"}""".formatted(name(), name()));
        serve("/keys", () -> {
            fetches.incrementAndGet();
            return keys();
        });
        server.start();
    }

    private interface Document {
        String text();
    }

    private void serve(String path, Document document) {
        server.createContext(path, exchange -> {
            byte[] body = document.text().getBytes(UTF_8);
            // As a Kubernetes API server does, whose keys have a type of their own.
            boolean accepted = String.valueOf(exchange.getRequestHeaders().getFirst("accept"))
                    .contains(path.equals("/keys")
                            ? "application/jwk-set+json"
                            : "application/json");
            exchange.sendResponseHeaders(down ? 503 : accepted ? 200 : 406, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
    }

    static ECKey key(String id) {
        try {
            return new ECKeyGenerator(Curve.P_256).keyID(id).generate();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    String name() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** The JWK set as it is published. */
    String keys() {
        return new JWKSet(key.toPublicJWK()).toString();
    }

    /** Publishes another key, and signs with it. */
    void rotate(String id) {
        key = key(id);
    }

    void down(boolean isDown) {
        down = isDown;
    }

    int fetches() {
        return fetches.get();
    }

    /** A token of a pod: namespace, service account, groups. */
    String token(String namespace, String account) {
        return token(namespace, account, claims -> claims);
    }

    String token(String namespace, String account,
            UnaryOperator<JWTClaimsSet.Builder> change) {
        return signed(key, change.apply(claims(namespace, account)).build());
    }

    JWTClaimsSet.Builder claims(String namespace, String account) {
        Instant now = Instant.now();
        return new JWTClaimsSet.Builder().issuer(name())
                .subject("system:serviceaccount:" + namespace + ":" + account)
                .audience(AUDIENCE)
                .issueTime(Date.from(now))
                .notBeforeTime(Date.from(now))
                .expirationTime(Date.from(now.plus(Duration.ofHours(1))))
                .claim("groups", List.of("everybody", "gpu-users"))
                .claim("kubernetes.io", Map.of("namespace", namespace, "serviceaccount",
                        Map.of("name", account, "uid", "1234")));
    }

    static String signed(ECKey key, JWTClaimsSet claims) {
        try {
            SignedJWT token = new SignedJWT(
                    new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(key.getKeyID()).build(),
                    claims);
            token.sign(new ECDSASigner(key));
            return token.serialize();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
