package io.railhead.gateway.identity;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Script;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A store that refuses who the gateway signs as, which no client can mend. */
class StoreCredentialIT {
    private volatile Script script = Script.status(500, "");
    private final ScriptedStore store = new ScriptedStore(
            (request, line) -> script.play(request, line));
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).config("""
            rules:
              - bucket: uncached
                cache: off
            """);
    private final TestClient client = gateway.client();

    private void refuse(String code, int status) {
        String document = "<?xml version=\"1.0\"?>\n<Error><Code>" + code
                + "</Code><Message>m</Message></Error>";
        script = (request, line) -> line.write("HTTP/1.1 " + status + " No\r\nContent-Length: "
                + document.length() + "\r\nContent-Type: application/xml\r\n\r\n",
                request.line().startsWith("HEAD ") ? new byte[0] : document.getBytes());
    }

    @ParameterizedTest
    @CsvSource({"GET,/b/key,SignatureDoesNotMatch,403", "GET,/b/key,InvalidAccessKeyId,403",
            "GET,/uncached/key,SignatureDoesNotMatch,403", "GET,/b?list-type=2,ExpiredToken,400",
            "PUT,/b/key,SignatureDoesNotMatch,403", "DELETE,/b/key,RequestTimeTooSkewed,403"})
    void isNotMistakenForTheClientsOwn(String method, String target, String code, int status) {
        refuse(code, status);
        HttpResponse<byte[]> answer = client.send(method, target, new byte[0]);
        assertThat(answer.statusCode()).isEqualTo(403);
        assertThat(new String(answer.body())).contains("<Code>StoreCredentialRefused</Code>")
                .contains(code)
                .contains("principal &apos;trainer&apos;");
        assertThat(gateway.metric("railhead_errors_total{code=\"StoreCredentialRefused\",}"))
                .isEqualTo(1);
    }

    @Test
    void overTheNativeChannel() {
        refuse("SignatureDoesNotMatch", 403);
        try (TestPeer peer = new TestPeer(client, "SK", 4096)) {
            Answer get = peer.ask(Request.get(0, "b", "key", peer.key(), 0, 4096));
            assertThat(get.status()).isEqualTo(403);
            assertThat(get.code()).isEqualTo("StoreCredentialRefused");
        }
    }

    @Test
    void theClientsOwnWrongSignatureIsToldAsBefore() {
        HttpResponse<byte[]> answer = gateway.client("AK", "wrong").get("/b/key");
        assertThat(new String(answer.body())).contains("<Code>SignatureDoesNotMatch</Code>");
    }

    @ParameterizedTest
    @CsvSource({"AccessDenied,403", "InvalidArgument,400"})
    void otherRefusalsAreInTheStoresWords(String code, int status) {
        refuse(code, status);
        HttpResponse<byte[]> answer = client.send("PUT", "/b/key", new byte[10]);
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(new String(answer.body())).contains("<Code>" + code + "</Code><Message>m<");
        assertThat(answer.headers().firstValue("content-type")).contains("application/xml");
    }
}
