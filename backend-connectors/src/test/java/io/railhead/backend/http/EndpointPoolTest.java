package io.railhead.backend.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.railhead.backend.BackendException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;

/** Requests that wait for a connection, before an endpoint whose connections never come about. */
class EndpointPoolTest {
    private static final int CONNECTIONS = 2;
    /** The most that wait, as docs/limits.md has it. */
    private static final int WAITING = 10_000;

    private final List<StoreExchange> opening = new ArrayList<>();
    private final EndpointPool pool = new EndpointPool(URI.create("http://127.0.0.1:1"),
            CONNECTIONS, (_, _, exchange) -> opening.add(exchange));

    @Test
    void ofTooManyThatWaitForAConnectionTheLastIsRefused() {
        List<Waiting> all = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS + WAITING; i++) {
            all.add(acquired());
        }
        assertThat(opening).hasSize(CONNECTIONS);
        assertThat(all).allMatch(each -> each.failure == null);
        Waiting last = acquired();
        assertThat(last.failure).isInstanceOfSatisfying(BackendException.class,
                e -> assertThat(e.reason()).isEqualTo(BackendException.Reason.BUSY));
        assertThat(pool.withdraw(all.getLast())).isTrue();
        assertThat(acquired().failure).as("there is room again").isNull();
    }

    private Waiting acquired() {
        Waiting exchange = new Waiting();
        pool.acquire(exchange);
        return exchange;
    }

    private static final class Waiting implements StoreExchange {
        private @Nullable Throwable failure;

        @Override
        public boolean isOver() {
            return false;
        }

        @Override
        public boolean begin(StoreConnection connection) {
            throw new AssertionError("there is no connection");
        }

        @Override
        public HttpRequest request() {
            throw new AssertionError("there is no connection");
        }

        @Override
        public @Nullable Publisher<ByteBuffer> body() {
            return null;
        }

        @Override
        public void head(HttpResponse head) {}

        @Override
        public boolean wantsBytes() {
            return false;
        }

        @Override
        public @Nullable ByteBuffer room() {
            return null;
        }

        @Override
        public void landed(int bytes) {}

        @Override
        public void content(ByteBuf bytes) {}

        @Override
        public void end() {}

        @Override
        public void failed(Throwable cause) {
            failure = cause;
        }
    }
}
