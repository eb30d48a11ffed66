package io.railhead.backend.aws;

import static io.railhead.backend.aws.ScriptedBackend.Options.USUAL;
import static io.railhead.backend.aws.ScriptedBackend.calls;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.backend.BackendException;
import io.railhead.backend.Headers;
import io.railhead.backend.Requests;
import io.railhead.backend.testing.BufferLeaks;
import io.railhead.backend.testing.Calls;
import io.railhead.backend.testing.ScriptedStore;
import io.railhead.backend.testing.ScriptedStore.Script;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** What has come of a body and nobody wants any more is given back. */
class UnreadBodiesTest {
    private static final String HEAD = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";
    private static final byte[] SOME = new byte[50_000];

    /** Takes so many buffers. */
    private static class Reader implements Subscriber<ByteBuffer> {
        final CompletableFuture<Void> over = new CompletableFuture<>();
        private final long demand;
        final CompletableFuture<Subscription> subscribed = new CompletableFuture<>();

        Reader(long demand) {
            this.demand = demand;
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            subscribed.complete(subscription);
            if (demand > 0) {
                subscription.request(demand);
            }
        }

        @Override
        public void onNext(ByteBuffer buffer) {}

        @Override
        public void onError(Throwable cause) {
            over.completeExceptionally(cause);
        }

        @Override
        public void onComplete() {
            over.complete(null);
        }
    }

    private static Publisher<ByteBuffer> body(AwsBackend backend) {
        return Calls.await(backend.send(Requests.get(calls(backend).target("k", null),
                ScriptedBackend.CREDENTIAL, Headers.NONE))).body();
    }

    private static void readsAndFails(Script script, long demand) {
        try (ScriptedStore store = new ScriptedStore(script);
                AwsBackend backend = ScriptedBackend.over(USUAL.idling(ScriptedBackend.SHORT),
                        store)) {
            for (int i = 0; i < 4; i++) {
                Reader reader = new Reader(demand);
                body(backend).subscribe(reader);
                if (demand < Long.MAX_VALUE) {
                    ScriptedBackend.await(() -> store.openConnections() == 0);
                    reader.subscribed.join().cancel();
                } else {
                    assertThatExceptionOfType(BackendException.class)
                            .isThrownBy(() -> Calls.await(reader.over));
                }
            }
        }
        BufferLeaks.assertNone();
    }

    @Test
    void whereTheStoreBreaksOff() {
        readsAndFails((request, line) -> {
            line.write(HEAD, SOME);
            line.close();
        }, 1);
        readsAndFails((request, line) -> {
            line.write(HEAD, SOME);
            line.close();
        }, 0);
        readsAndFails((request, line) -> {
            line.write(HEAD, SOME);
            line.reset();
        }, Long.MAX_VALUE);
    }

    @Test
    void whereTheStoreStalls() {
        readsAndFails((request, line) -> {
            line.write(HEAD, SOME);
            line.awaitClosed();
        }, Long.MAX_VALUE);
    }

    /** By another thread, as deadlines do, while what has come is being handed over. */
    @Test
    void whereTheReaderGivesUpInMidBody() {
        byte[] large = new byte[8 << 20];
        try (ScriptedStore store = new ScriptedStore(Script.answer(
                "HTTP/1.1 200 OK\r\nContent-Length: " + large.length, large));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            for (int i = 0; i < 200; i++) {
                Leaving reader = new Leaving();
                body(backend).subscribe(reader);
                reader.subscription.join().request(i % 2 == 0 ? Long.MAX_VALUE : 100);
                reader.begun.join();
                reader.subscription.join().cancel();
            }
        }
        BufferLeaks.assertNone();
    }

    /** Takes what comes, and says when the first has come. */
    private static final class Leaving implements Subscriber<ByteBuffer> {
        final CompletableFuture<Subscription> subscription = new CompletableFuture<>();
        final CompletableFuture<Void> begun = new CompletableFuture<>();

        @Override
        public void onSubscribe(Subscription given) {
            subscription.complete(given);
        }

        @Override
        public void onNext(ByteBuffer buffer) {
            begun.complete(null);
        }

        @Override
        public void onError(Throwable cause) {
            begun.complete(null);
        }

        @Override
        public void onComplete() {
            begun.complete(null);
        }
    }

    /** The store has more to send, and nobody would read it. */
    @Test
    void whereTheReaderGivesUpAndTheStoreWaits() {
        try (ScriptedStore store = new ScriptedStore((request, line) -> {
            line.write(HEAD, SOME);
            line.awaitClosed();
        }); AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            Reader reader = new Reader(1);
            body(backend).subscribe(reader);
            reader.subscribed.join().cancel();
            ScriptedBackend.await(() -> store.openConnections() == 0);
            assertThat(backend.isIdle()).isTrue();
        }
        BufferLeaks.assertNone();
    }

    /** Its place at the store must not be lost. */
    @Test
    void whereTheReaderThrows() {
        try (ScriptedStore store = new ScriptedStore(
                Script.answer("HTTP/1.1 200 OK\r\nContent-Length: 50000", SOME));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            for (int i = 0; i < 4; i++) {
                Reader reader = new Reader(0) {
                    @Override
                    public void onNext(ByteBuffer buffer) {
                        throw new NoSuchFieldError("planted");
                    }
                };
                body(backend).subscribe(reader);
                reader.subscribed.join().request(1);
                assertThatThrownBy(() -> Calls.await(reader.over))
                        .hasRootCauseInstanceOf(NoSuchFieldError.class);
            }
            ScriptedBackend.await(backend::isIdle);
        }
        BufferLeaks.assertNone();
    }

    @Test
    void whereTheReaderDemandsNothing() {
        try (ScriptedStore store = new ScriptedStore(
                Script.answer("HTTP/1.1 200 OK\r\nContent-Length: 50000", SOME));
                AwsBackend backend = ScriptedBackend.over(USUAL, store)) {
            Reader reader = new Reader(0);
            body(backend).subscribe(reader);
            reader.subscribed.join().request(0);
            assertThatThrownBy(() -> Calls.await(reader.over))
                    .isInstanceOf(IllegalArgumentException.class);
            ScriptedBackend.await(backend::isIdle);
        }
        BufferLeaks.assertNone();
    }

    /** The connection is free by then, and its end is not the body's. */
    @Test
    void whereTheBackendIsClosedBehindAWholeAnswer() {
        for (int demand = -1; demand < 2; demand++) {
            try (ScriptedStore store = new ScriptedStore(
                    Script.answer("HTTP/1.1 200 OK\r\nContent-Length: 5", new byte[5]))) {
                AwsBackend backend = ScriptedBackend.over(USUAL, store);
                for (int i = 0; i < 4; i++) {
                    Publisher<ByteBuffer> body = body(backend);
                    if (demand >= 0) {
                        Reader reader = new Reader(demand);
                        body.subscribe(reader);
                        reader.subscribed.join();
                    }
                }
                backend.close();
            }
        }
        BufferLeaks.assertNone();
    }

    @Test
    void whereTheBackendIsClosed() {
        for (long demand = 0; demand < 2; demand++) {
            try (ScriptedStore store = new ScriptedStore((request, line) -> {
                line.write(HEAD, SOME);
                line.awaitClosed();
            })) {
                AwsBackend backend = ScriptedBackend.over(USUAL, store);
                Reader reader = new Reader(demand);
                body(backend).subscribe(reader);
                backend.close();
                assertThatExceptionOfType(BackendException.class)
                        .isThrownBy(() -> Calls.await(reader.over));
            }
        }
        BufferLeaks.assertNone();
    }
}
