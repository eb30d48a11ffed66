package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Script;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.TestPeer;
import java.io.IOException;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A store that says yes to an upload before it has it: nobody may believe that. */
class EarlyAnswersIT {
    private static final String ETAG = "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: 0";
    private static final int BYTES = 16 << 20;

    private final ScriptedStore store = new ScriptedStore(new Script() {
        @Override
        public void play(ScriptedStore.Received request, ScriptedStore.Line line)
                throws IOException {
            line.write(ETAG + "\r\n\r\n", new byte[0]);
            if (request.line().startsWith("PUT")) {
                line.awaitClosed();
            }
        }

        @Override
        public boolean wantsBody(ScriptedStore.Received head) {
            return false;
        }
    });
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store).principals(TestGateway.UPLOADER);
    private final TestClient client = gateway.client();

    @Test
    void anUploadOverHttp() {
        assertNotStored(client.put("/b/key", new byte[BYTES]));
    }

    @Test
    void anUploadOutOfMemory() {
        try (TestPeer peer = new TestPeer(client, "SK", BYTES)) {
            assertNotStored(client.put("/b/key", new byte[0], peer.headers(0, BYTES)));
        }
    }

    private static void assertNotStored(HttpResponse<byte[]> answer) {
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.headers().firstValue("etag")).isEmpty();
        assertThat(answer.headers().firstValue("x-amz-rdma-reply")).isEmpty();
    }
}
