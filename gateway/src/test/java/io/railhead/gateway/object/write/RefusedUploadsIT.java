package io.railhead.gateway.object.write;

import static io.railhead.backend.testing.ScriptedStore.Script.beforeBody;
import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Line;
import io.railhead.backend.testing.ScriptedStore.Received;
import io.railhead.gateway.TestClient;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.frontdoor.RawConnection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A store that refuses an upload and closes its connection: its answer reaches the client, however
 * much of the body is on its way and however the connection ends.
 */
class RefusedUploadsIT {
    private static final int TIMES = 20;
    private static final String REFUSAL = "<Error><Code>NoSuchBucket</Code></Error>";

    private volatile int takes;
    private volatile Ending ending = Ending.CLOSE;

    /** How the store ends the connection behind its answer. */
    enum Ending {
        /** With RST where bytes were left unread. */
        CLOSE,
        RESET,
        /** With FIN, and it reads on. */
        FIN,
        /** Before the answer's body is whole. */
        IN_ITS_BODY
    }

    private final ScriptedStore store = new ScriptedStore(beforeBody(this::refuse));
    @RegisterExtension
    private final TestGateway gateway = TestGateway.over(store);
    private final TestClient client = gateway.client();

    private void refuse(Received request, Line line) throws IOException {
        if (!request.line().startsWith("PUT")) {
            status(200, "").play(request, line);
            return;
        }
        if (takes > 0 && request.header("Expect") != null) {
            line.write("HTTP/1.1 100 Continue\r\n\r\n", new byte[0]);
        }
        line.read(takes);
        line.write("HTTP/1.1 404 Not Found\r\nContent-Length: " + REFUSAL.length() + "\r\n\r\n",
                ending == Ending.IN_ITS_BODY ? new byte[0] : REFUSAL.getBytes(US_ASCII));
        switch (ending) {
            case CLOSE, IN_ITS_BODY -> line.close();
            case RESET -> line.reset();
            case FIN -> {
                line.endOutput();
                line.awaitClosed();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1000,1", "100000,50000", "1000000,0", "1000000,1", "1000000,500000",
            "4000000,2000000"})
    void reachTheClient(int size, int taken) {
        takes = taken;
        byte[] body = new byte[size];
        for (Ending each : EnumSet.complementOf(EnumSet.of(Ending.IN_ITS_BODY))) {
            ending = each;
            List<String> answers = new ArrayList<>();
            for (int i = 0; i < TIMES; i++) {
                answers.add(answer(body));
            }
            assertThat(answers).as("%s", each)
                    .isEqualTo(Collections.nCopies(TIMES, "404 " + REFUSAL));
        }
    }

    /** The document is lost with the connection, the status is not. */
    @Test
    void areTheirStatusWhereNoMoreOfThemComes() {
        takes = 1;
        ending = Ending.IN_ITS_BODY;
        assertThat(answer(new byte[1000])).isEqualTo("404 ");
    }

    private String answer(byte[] body) {
        try (RawConnection raw = new RawConnection(gateway.endpoint())) {
            raw.send(RawConnection.head(client.signed("PUT", "/b/key", body),
                    "Content-Length: " + body.length) + "\r\n");
            raw.sendWhilePossible(body);
            RawConnection.Answer answer = raw.receive();
            return answer.status() + " " + answer.body();
        } catch (UncheckedIOException e) {
            return String.valueOf(e.getCause());
        }
    }
}
