package io.railhead.gateway.sts;

import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.JWKSetCacheRefreshEvaluator;
import com.nimbusds.jose.jwk.source.JWKSetSource;
import com.nimbusds.jose.jwk.source.JWKSetUnavailableException;
import com.nimbusds.jose.proc.SecurityContext;
import io.railhead.backend.aws.PrivateAuthority;
import io.railhead.gateway.config.GatewayConfig.Issuer;
import io.railhead.gateway.config.Globs;
import io.railhead.gateway.config.ListenAddress;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.text.ParseException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Reads an issuer's keys: a file, or a JWK set that is fetched, whose place the issuer's own OpenID
 * document may say. File, authority and bearer token are read anew each time, so that a change
 * needs no restart. Any thread; blocks.
 */
final class IssuerKeys implements JWKSetSource<SecurityContext> {
    private static final Duration CONNECT = Duration.ofSeconds(3);
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final int MAX_BYTES = 1 << 20;
    private static final int OK = 200;
    /** A Kubernetes API server has its keys in the second form alone, and else answers 406. */
    private static final String ACCEPTED = "application/json, application/jwk-set+json";

    private final Issuer issuer;

    IssuerKeys(Issuer issuer) {
        this.issuer = issuer;
    }

    @Override
    public JWKSet getJWKSet(JWKSetCacheRefreshEvaluator evaluator, long now,
            @Nullable SecurityContext context) throws KeySourceException {
        try {
            Path file = issuer.jwksFile();
            return JWKSet.parse(file == null ? fetched() : content(file));
        } catch (ParseException e) {
            throw new JWKSetUnavailableException("no JWK set: " + e.getMessage(), e);
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            throw new JWKSetUnavailableException(e.toString(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new JWKSetUnavailableException("interrupted", e);
        }
    }

    private static String content(Path file) throws IOException {
        if (Files.size(file) > MAX_BYTES) {
            throw new IOException(file + " is larger than " + MAX_BYTES + " bytes");
        }
        return Files.readString(file).strip();
    }

    private String fetched() throws IOException, GeneralSecurityException, InterruptedException {
        HttpClient http = client();
        try {
            URI keys = issuer.jwks();
            return keys == null ? discovered(http) : get(http, keys, true);
        } finally {
            // Ends an answer that stalls; close() would wait for it.
            http.shutdownNow();
        }
    }

    private HttpClient client() throws GeneralSecurityException {
        HttpClient.Builder builder = HttpClient.newBuilder()
                .connectTimeout(CONNECT)
                .followRedirects(HttpClient.Redirect.NEVER);
        Path ca = issuer.ca();
        if (ca != null) {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, PrivateAuthority.read(ca).trustManagers(), null);
            builder.sslContext(context);
        }
        return builder.build();
    }

    /** OpenID Connect Discovery 1.0, section 4: the document must name the issuer itself. */
    private String discovered(HttpClient http) throws IOException, InterruptedException {
        URI place = URI.create(issuer.issuer().replaceFirst("/$", "")
                + "/.well-known/openid-configuration");
        try {
            JsonObject document = new JsonObject(get(http, place, true));
            if (!issuer.issuer().equals(document.getString("issuer"))) {
                throw new IOException("its OpenID document names another issuer");
            }
            URI keys = URI.create(document.getString("jwks_uri", ""));
            if (!"https".equals(keys.getScheme()) && !isHere(keys)) {
                throw new IOException("its OpenID document's jwks_uri is not https");
            }
            return get(http, keys, mayHaveToken(place, keys));
        } catch (DecodeException | ClassCastException e) {
            throw new IOException("its OpenID document is no JSON object", e);
        }
    }

    /** The document is another's word: only the issuer's own host is shown the token unasked. */
    private boolean mayHaveToken(URI own, URI keys) {
        String host = String.valueOf(keys.getHost());
        return (host.equalsIgnoreCase(own.getHost()) && port(keys) == port(own)
                && own.getScheme().equals(keys.getScheme()))
                || issuer.tokenHosts().stream().anyMatch(pattern -> Globs.matches(pattern, host));
    }

    private static int port(URI uri) {
        return uri.getPort() >= 0 ? uri.getPort() : "https".equals(uri.getScheme()) ? 443 : 80;
    }

    private static boolean isHere(URI keys) {
        String host = keys.getHost();
        return host != null && ListenAddress.isOfThisHost(host);
    }

    private String get(HttpClient http, URI uri, boolean withToken)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri)
                .timeout(ANSWER)
                .header("accept", ACCEPTED);
        Path token = issuer.tokenFile();
        if (token != null && withToken) {
            request.header("authorization", "Bearer " + content(token));
        }
        HttpResponse<String> response = within(http.sendAsync(request.build(),
                BodyHandlers.limiting(BodyHandlers.ofString(), MAX_BYTES)));
        if (response.statusCode() != OK) {
            throw new IOException(uri + " answered " + response.statusCode()
                    + (token == null || withToken
                            ? ""
                            : ", without the token of token_file: it is not the issuer's own"
                                    + " host; name it in token_hosts, or the keys' URL in jwks"));
        }
        return response.body();
    }

    /** Waits for the whole answer: the request's own timeout ends with the head. */
    private static <T> T within(CompletableFuture<T> answer)
            throws IOException, InterruptedException {
        try {
            return answer.get(ANSWER.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        } catch (TimeoutException e) {
            throw new IOException("no answer within " + ANSWER.toSeconds() + " s", e);
        }
    }

    @Override
    public void close() {
        // Nothing stays open between two readings.
    }
}
