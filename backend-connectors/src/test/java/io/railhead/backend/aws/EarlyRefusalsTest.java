package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.CREDENTIAL;
import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static io.railhead.backend.testing.ScriptedStore.Script.beforeBody;
import static io.railhead.backend.testing.ScriptedStore.Script.status;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.BackendRequest;
import io.railhead.backend.Headers;
import io.railhead.backend.Payload;
import io.railhead.backend.Requests;
import io.railhead.backend.Target;
import io.railhead.backend.testing.Calls.Reply;
import io.railhead.backend.testing.ScriptedStore;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** That a store is heard while a body is on its way, also where no more of the body comes. */
class EarlyRefusalsTest {
    private static final int SMALL = 128 << 10;
    private static final int LARGE = 3 << 20;

    private final CompletableFuture<Long> bodyBytes = new CompletableFuture<>();

    @ParameterizedTest
    @ValueSource(ints = {SMALL, LARGE})
    void aRefusalInTheMiddleOfABodyIsHeardAtOnceAndItsConnectionEnds(int size) {
        AtomicReference<AwsBackend> sending = new AtomicReference<>();
        ScriptedStore.Script refusal = beforeBody((request, line) -> {
            if (request.header("Expect") != null) {
                line.write("HTTP/1.1 100 Continue\r\n\r\n", new byte[0]);
            }
            ScriptedBackend.await(() -> sending.get().stats().bytesOut() > 0);
            status(507, "full").play(request, line);
            bodyBytes.complete(line.awaitClosed());
        });
        Stalling body = new Stalling();
        try (ScriptedStore store = new ScriptedStore(refusal, status(200, "hello"));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            sending.set(backend);
            Reply reply = calls(backend).send(put(body, size));
            assertThat(reply.status()).isEqualTo(507);
            assertThat(reply.text()).isEqualTo("full");
            assertThat(bodyBytes.join()).isLessThan(size);
            ScriptedBackend.await(body.cancelled::get);
            assertThat(calls(backend).get("k").text()).isEqualTo("hello");
            assertThat(store.connections()).isEqualTo(2);
        }
    }

    private static BackendRequest put(Stalling body, int size) {
        return Requests.put(new Target("bucket", "k", null), CREDENTIAL, Headers.NONE,
                new Payload.Stream(body, size, "UNSIGNED-PAYLOAD", Map.of()));
    }

    /** Two pieces, and never another. */
    private static final class Stalling implements Publisher<ByteBuffer> {
        private final AtomicBoolean cancelled = new AtomicBoolean();

        @Override
        public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
            subscriber.onSubscribe(new Subscription() {
                private int sent;

                @Override
                public void request(long n) {
                    for (long i = 0; i < n && sent < 2; i++) {
                        sent++;
                        subscriber.onNext(ByteBuffer.allocate(32 << 10));
                    }
                }

                @Override
                public void cancel() {
                    cancelled.set(true);
                }
            });
        }
    }
}
