package io.railhead.gateway.relay;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.railhead.gateway.FakeStore;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Documents of the store's that the gateway reads whole, and that no honest store sends so long.
 */
class LongDocumentsIT {
    private static final byte[] DOCUMENT = " ".repeat((16 << 20) + 1).getBytes(UTF_8);

    private final FakeStore store = new FakeStore();
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store)
            .file("policy.json", """
                    {"Version": "2012-10-17", "Statement": [
                      {"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "*"},
                      {"Effect": "Deny", "Principal": "*", "Action": "s3:DeleteObject",
                       "Resource": "arn:aws:s3:::b/kept"}]}
                    """)
            .config("gateway: {policy: policy.json}\n")
            .principals("""
                    principals:
                      - {name: operator, admin: true, keys: [{access_key: AK, secret_key: SK}]}
                    """);
    private final TestClient client = gateway.client();

    private static void say(HttpExchange exchange) {
        try {
            exchange.sendResponseHeaders(200, DOCUMENT.length);
            exchange.getResponseBody().write(DOCUMENT);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void refused(HttpResponse<byte[]> answer) {
        assertThat(new String(answer.body(), UTF_8)).contains("StoreAnswerTooLarge");
        assertThat(gateway.metric(
                "railhead_backend_endpoints{backend=\"store\",state=\"healthy\",}")).isOne();
    }

    @Test
    void anAnswerToDeleteObjects() {
        store.fault((exchange, _) -> {
            say(exchange);
            return true;
        });
        HttpResponse<byte[]> answer = client.send("POST", "/b?delete",
                ("<Delete><Object><Key>kept</Key></Object>"
                        + "<Object><Key>gone</Key></Object></Delete>").getBytes(UTF_8));
        assertThat(answer.statusCode()).isEqualTo(501);
        refused(answer);
    }

    /** Its lines of progress have begun, so that the error stands in the last one. */
    @Test
    void aListingOfWarming() {
        store.listing(DOCUMENT);
        refused(client.at(gateway.admin())
                .send("POST", "/.railhead/admin/warm",
                        "{\"bucket\": \"b\", \"prefix\": \"\"}".getBytes(UTF_8)));
    }
}
