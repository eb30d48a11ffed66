package io.railhead.gateway.sts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestGateway;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An issuer whose answers stop in the middle is its own trouble. */
class StalledIssuerIT {
    private final TestIssuer stalling = new TestIssuer();
    private final TestIssuer other = new TestIssuer();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(new FakeStore())
            .owning(stalling)
            .owning(other)
            .config("""
                    gateway:
                      web_identity:
                        issuers:
                          - {issuer: "%s", audiences: [sts.amazonaws.com]}
                          - {issuer: "%s", audiences: [sts.amazonaws.com]}
                    """.formatted(stalling.name(), other.name()))
            .principals("""
                    roles:
                      - {name: one, issuer: "%s", claims: {sub: "*"},
                         backend_credential: {access_key: A, secret_key: S}}
                      - {name: two, issuer: "%s", claims: {sub: "*"},
                         backend_credential: {access_key: A, secret_key: S}}
                    """.formatted(stalling.name(), other.name()));

    private CompletableFuture<HttpResponse<String>> assume(HttpClient http, String role,
            String token) {
        return http.sendAsync(HttpRequest.newBuilder(gateway.endpoint().resolve("/"))
                .header("content-type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString("Action=AssumeRoleWithWebIdentity&RoleArn=" + role
                        + "&RoleSessionName=pod&WebIdentityToken="
                        + URLEncoder.encode(token, UTF_8)))
                .build(), BodyHandlers.ofString());
    }

    @Test
    void othersAreServedAndItsCallsEnd() {
        stalling.stall();
        try (HttpClient http = HttpClient.newHttpClient()) {
            List<CompletableFuture<HttpResponse<String>>> waiting = new ArrayList<>();
            for (int i = 0; i < 70; i++) {
                waiting.add(assume(http, "one", TestIssuer.signed(TestIssuer.key("none-" + i),
                        stalling.claims("ml", "train").build())));
            }
            assertThat(assume(http, "two", other.token("ml", "train")).join().statusCode())
                    .isEqualTo(200);
            assertThat(waiting).allSatisfy(call -> assertThat(call.join().body())
                    .containsAnyOf("IDPCommunicationError", "Throttling"));
        }
    }
}
