package io.railhead.gateway.sts;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.util.JSONObjectUtils;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** An OpenID provider: its document, its keys, and tokens as a Kubernetes API server makes them. */
final class TestIssuer implements AutoCloseable {
    static final String AUDIENCE = "sts.amazonaws.com";

    private final HttpServer server;
    private final AtomicInteger fetches = new AtomicInteger();
    private volatile ECKey key = key("first");
    private volatile boolean down;
    private final CountDownLatch stalled = new CountDownLatch(1);
    private volatile boolean stalls;

    /** The bearer tokens that keys were asked for with; "" for none. */
    private final List<String> bearers = new CopyOnWriteArrayList<>();
    private volatile String keysAt = "";
    private volatile String calledAs = "";

    TestIssuer() {
        try {
            server = HttpServer.create(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        serve("/.well-known/openid-configuration", () -> """
                {"issuer": "%s", "jwks_uri": "%s/keys"}""".formatted(
                calledAs.isEmpty() ? name() : calledAs,
                keysAt.isEmpty() ? name() : keysAt));
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
            if (path.equals("/keys")) {
                bearers.add(Objects.requireNonNullElse(
                        exchange.getRequestHeaders().getFirst("authorization"), ""));
            }
            byte[] body = document.text().getBytes(UTF_8);
            // As a Kubernetes API server does, whose keys have a type of their own.
            String accept = exchange.getRequestHeaders().getFirst("accept");
            boolean accepted = accept == null || accept.contains("*/*")
                    || accept.contains(path.equals("/keys")
                            ? "application/jwk-set+json"
                            : "application/json");
            exchange.sendResponseHeaders(down ? 503 : accepted ? 200 : 406, body.length);
            if (stalls) {
                exchange.getResponseBody().write(body, 0, 1);
                exchange.getResponseBody().flush();
                awaitEnd();
            }
            exchange.getResponseBody().write(body);
            exchange.close();
        });
    }

    private void awaitEnd() {
        try {
            stalled.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** From now on answers stop after their first byte. */
    void stall() {
        stalls = true;
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

    /** From now on the document says that the keys are at this server. */
    void moveKeys(String server) {
        keysAt = server;
    }

    /** From now on the document is of an issuer with this name. */
    void calls(String itself) {
        calledAs = itself;
    }

    /** Publishes the other's key. */
    void publishKeyOf(TestIssuer other) {
        key = other.key;
    }

    List<String> bearers() {
        return List.copyOf(bearers);
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

    /** A token with one claim null, which no builder makes. */
    String withNull(String namespace, String account, String claim) {
        Map<String, Object> claims = new HashMap<>(
                claims(namespace, account).build().toJSONObject());
        claims.put(claim, null);
        try {
            JWSObject token = new JWSObject(
                    new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(key.getKeyID()).build(),
                    new Payload(JSONObjectUtils.toJSONString(claims)));
            token.sign(new ECDSASigner(key));
            return token.serialize();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
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
        stalled.countDown();
        server.stop(0);
    }
}
