package io.railhead.cli.reading;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.cli.local.Json;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;

/** What demo and bench site share; as a whole, the two run it. */
class ReadingPartsTest {
    /**
     * What a source of 50 ms for each part takes is never less, whatever is done with the bytes.
     */
    @Test
    void allTimeOfEachPartIsMeasured() throws IOException {
        byte[] content = content(9 * 1000 + 10);
        Memory memory = new Memory(content);

        ReadingResult readingResult = memory.rounds((_, first, bytes, at) -> {
            sleep(50);
            memory.deliver(first, bytes, at);
        }).run(1, 0);

        assertThat(readingResult.seconds()).isGreaterThanOrEqualTo(0.5);
        assertThat(readingResult.p50Us()).isGreaterThanOrEqualTo(500_000);
        assertThat(readingResult.requests()).isEqualTo(10);
        assertThat(readingResult.bytes()).isEqualTo(content.length);
    }

    /** Nothing is asked for while the bytes of a pass are looked at, which the memory shows. */
    @Test
    void everyPassIsCheckedAndWipedBeforeTheNextBegins() throws IOException {
        Memory memory = new Memory(content(2010));
        List<Boolean> wiped = new ArrayList<>();

        ReadingResult readingResult = memory.rounds((_, first, bytes, at) -> {
            if (first == 0) {
                wiped.add(memory.bytes.mismatch(MemorySegment.ofArray(new byte[2010])) < 0);
            }
            memory.deliver(first, bytes, at);
        }).run(3, 0);

        assertThat(readingResult.passes()).isEqualTo(3);
        assertThat(wiped).containsExactly(true, true, true);
    }

    @Test
    void aPartThatIsNotDeliveredInALaterPassIsSeen() {
        Memory memory = new Memory(content(2010));
        AtomicInteger asked = new AtomicInteger();

        assertThatThrownBy(() -> memory.rounds((_, first, bytes, at) -> {
            if (asked.incrementAndGet() != 5) {
                memory.deliver(first, bytes, at);
            }
        }).run(3, 0)).hasMessage("wrong bytes in k at 1000");
        assertThat(asked).hasValue(6);
    }

    @Test
    void oneWrongBitIsSeen() {
        byte[] content = content(1000);
        Memory memory = new Memory(content);
        content[999] ^= 1;

        assertThatThrownBy(() -> memory.rounds(
                (_, first, bytes, at) -> memory.deliver(first, bytes, at)).run(1, 0))
                .hasMessage("wrong bytes in k at 0");
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** One object of parts of 1000 bytes, and the memory that it is read into. */
    private static final class Memory {
        private static final int PART = 1000;
        private final byte[] content;
        private final MemorySegment bytes;
        private final Manifest manifest;

        Memory(byte[] content) {
            this.content = content;
            bytes = MemorySegment.ofArray(new byte[content.length]);
            List<String> digests = new ArrayList<>();
            for (int at = 0; at < content.length; at += PART) {
                digests.add(Manifest.sha256(
                        ByteBuffer.wrap(content, at, Math.min(PART, content.length - at))));
            }
            manifest = new Manifest("b", PART,
                    List.of(new Manifest.Entry("k", content.length, digests)));
        }

        Rounds rounds(Source source) {
            return new Rounds(manifest, source, bytes, null);
        }

        void deliver(long first, int count, long at) {
            MemorySegment.copy(content, (int) first, bytes, ValueLayout.JAVA_BYTE, at, count);
        }
    }

    @Test
    void theJsonHasTheNamesThatReadersExpect() {
        ReadingRow readingRow = ReadingRow.of(ReadingRow.Path.RDMA_HIT_STRONG, "strong",
                new ReadingResult(2, 1L << 30, 9, 2, 0.5, 1.5, 10, 20, ""), new StoreUsage(7, 0));

        assertThat(Json.line(new ReadingReport(true, List.of(readingRow)))).isEqualTo(
                "{\"verified\":true,\"rows\":[{\"path\":\"rdma-hit-strong\",\"fabric\":\"loopback\","
                        + "\"freshness\":\"strong\",\"passes\":2,\"bytes\":1073741824,\"mib_per_s\":512.0,"
                        + "\"p50_us\":10.0,\"p99_us\":20.0,\"gateway_cpu_s_per_gib\":1.5,"
                        + "\"client_cpu_s_per_gib\":0.5,\"backend_requests\":7,\"backend_bytes\":0}]}");
    }

    @Test
    void theTableCallsLoopbackWhatItIs() {
        StringWriter out = new StringWriter();
        Table.print(new PrintWriter(out),
                List.of(ReadingRow.of(ReadingRow.Path.RDMA_HIT, "immutable",
                        new ReadingResult(3, 1 << 20, 1, 1, 0, 0, 1, 1, ""), new StoreUsage(7, 0))),
                "All is here.");

        assertThat(out.toString()).contains("shared memory, not a network", "█", "NIC",
                "All is here.", "requests/pass", " 2.3\n");
    }

    @Test
    void whatAGivenGatewayUsedIsADash() {
        StringWriter out = new StringWriter();
        Table.print(new PrintWriter(out), List.of(ReadingRow.of(ReadingRow.Path.HTTP_HIT, "as set",
                new ReadingResult(3, 1 << 20, 1, 1, 0, 0, 1, 1, ""), null)), "");

        assertThat(out.toString()).containsPattern("http-hit +as set +1.0 +1.0 +1.0 +- +0.000 +-");
    }

    @Test
    void aSessionTokenGoesToTheGatewayAndToTheClient() {
        Origin origin = origin(AwsSessionCredentials.create("AK", "s\"k", "token"));

        assertThat(origin.key()).containsOnly(Map.entry("access_key", "AK"),
                Map.entry("secret_key", "s\"k"), Map.entry("session_token", "token"));
        assertThat(origin.environment()).containsEntry("AWS_SESSION_TOKEN", "token")
                .containsEntry("AWS_REGION", "eu-central-1");
    }

    @Test
    void withoutOneTheClientInheritsNone() {
        Origin origin = origin(AwsBasicCredentials.create("AK", "sk"));

        assertThat(origin.key()).doesNotContainKey("session_token");
        assertThat(origin.environment()).containsEntry("AWS_SESSION_TOKEN", "");
    }

    private static Origin origin(AwsCredentials credentials) {
        return new Origin(URI.create("http://127.0.0.1:1"), "eu-central-1", credentials,
                new Manifest("b", List.of()));
    }

    private static byte[] content(int bytes) {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        return content;
    }
}
