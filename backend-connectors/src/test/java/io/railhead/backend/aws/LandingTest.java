package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.backend.BackendException;
import io.railhead.backend.BackendResponse;
import io.railhead.backend.BodySink;
import io.railhead.backend.Headers;
import io.railhead.backend.Requests;
import io.railhead.backend.testing.BufferLeaks;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Script;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Bodies are received into their reader's memory, and never beyond it. */
class LandingTest {
    private static final int BYTES = 3 << 20;

    private final byte[] content = new byte[BYTES];

    LandingTest() {
        new Random(7).nextBytes(content);
    }

    @AfterEach
    void leavesNoBuffer() {
        BufferLeaks.assertNone();
    }

    private static Script sized(byte[] body) {
        return Script.answer("HTTP/1.1 206 Part\r\nContent-Length: " + body.length, body);
    }

    static Memory pour(AwsBackend backend, Memory memory) {
        var _ = backend
                .send(Requests.get(calls(backend).target("k", null), ScriptedBackend.CREDENTIAL,
                        Headers.NONE))
                .thenApply(BackendResponse::body)
                .thenAccept(body -> body.pour(memory));
        return memory;
    }

    private static void receivesRight(Script script, byte[] expected, Memory memory)
            throws Exception {
        try (ScriptedStore store = new ScriptedStore(script);
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThat(pour(backend, memory).whole.get(60, TimeUnit.SECONDS)).isEqualTo(expected);
            // The connection is as it was before.
            assertThat(pour(backend, new Memory(1000)).whole.get(60, TimeUnit.SECONDS))
                    .isEqualTo(expected);
            assertThat(store.connections()).isEqualTo(1);
            assertThat(backend.stats().bytesIn()).isEqualTo(2L * expected.length);
        }
    }

    @Test
    void aBodyLandsInItsReadersMemory() throws Exception {
        Memory memory = new Memory(256 << 10);
        receivesRight(sized(content), content, memory);
        assertThat(memory.landed).isGreaterThan(BYTES / 2);
    }

    @Test
    void memoryOfAnySizeIsFilledInOrder() throws Exception {
        for (int size : new int[]{7, 4096, 65_537, BYTES, 2 * BYTES}) {
            receivesRight(sized(content), content, new Memory(size));
        }
    }

    @Test
    void aReaderWithoutMemoryTakesThePieces() throws Exception {
        Memory memory = new Memory(0);
        receivesRight(sized(content), content, memory);
        assertThat(memory.landed).isZero();
    }

    /** The lengths of chunks are among the bytes of the connection. */
    @Test
    void aChunkedBodyIsCopied() throws Exception {
        Memory memory = new Memory(256 << 10);
        Script chunked = (request, line) -> {
            line.write("HTTP/1.1 206 Part\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + Integer.toHexString(BYTES) + "\r\n", content);
            line.write("\r\n0\r\n\r\n", new byte[0]);
        };
        receivesRight(chunked, content, memory);
        assertThat(memory.landed).isZero();
    }

    @Test
    void bytesBehindTheBodyLandNowhere() throws Exception {
        Memory memory = new Memory(2 * BYTES);
        Script longer = (request, line) -> {
            line.write("HTTP/1.1 206 Part\r\nContent-Length: " + BYTES + "\r\n\r\n", content);
            line.write("", new byte[100_000]);
            line.awaitClosed();
        };
        try (ScriptedStore store = new ScriptedStore(longer);
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            assertThat(pour(backend, memory).whole.get(60, TimeUnit.SECONDS)).isEqualTo(content);
            ScriptedBackend.await(() -> store.openConnections() == 0);
            assertThat(memory.taken()).isEqualTo(BYTES);
        }
    }

    @Test
    void aBodyThatIsCutOffFails() {
        Script cut = (request, line) -> {
            line.write("HTTP/1.1 206 Part\r\nContent-Length: " + (BYTES + 1) + "\r\n\r\n", content);
            line.close();
        };
        try (ScriptedStore store = new ScriptedStore(cut);
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            Memory memory = pour(backend, new Memory(100_000));
            assertThatThrownBy(() -> memory.whole.get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(BackendException.class);
        }
    }

    /** Memory that a reader has lost must not be written. */
    @Test
    void aReaderThatThrowsGetsNothingMoreButItsFailure() {
        try (ScriptedStore store = new ScriptedStore(sized(content));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            for (int good : new int[]{0, 1, 2}) {
                Memory memory = new Memory(50_000);
                memory.good = good;
                assertThatThrownBy(() -> pour(backend, memory).whole.get(60, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(NoSuchFieldError.class);
                assertThat(memory.calls).isEqualTo(good + 1);
            }
            ScriptedBackend.await(() -> store.openConnections() == 0);
            ScriptedBackend.await(backend::isIdle);
        }
    }

    /** Memory in pieces of one size, each handed out until it is full. */
    static final class Memory implements BodySink {
        private final CompletableFuture<byte[]> whole = new CompletableFuture<>();
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final int size;
        private ByteBuffer piece;
        private volatile int good = Integer.MAX_VALUE;
        private int calls; // read once the body has ended
        private int landed;

        Memory(int size) {
            this.size = size;
            this.piece = ByteBuffer.allocateDirect(size);
        }

        CompletableFuture<byte[]> whole() {
            return whole;
        }

        synchronized int taken() {
            return bytes.size();
        }

        @Override
        public @Nullable ByteBuffer room() {
            return size == 0 ? null : piece.duplicate();
        }

        @Override
        public synchronized void landed(int count) {
            countCall();
            landed += count;
            byte[] some = new byte[count];
            piece.get(some);
            bytes.writeBytes(some);
            if (!piece.hasRemaining()) {
                piece = ByteBuffer.allocateDirect(size);
            }
        }

        @Override
        public synchronized void write(ByteBuffer some) {
            countCall();
            byte[] copied = new byte[some.remaining()];
            some.get(copied);
            bytes.writeBytes(copied);
        }

        private void countCall() {
            calls++;
            if (calls > good) {
                throw new NoSuchFieldError("planted");
            }
        }

        @Override
        public void complete() {
            whole.complete(bytes.toByteArray());
        }

        @Override
        public void fail(Throwable cause) {
            whole.completeExceptionally(cause);
        }
    }
}
