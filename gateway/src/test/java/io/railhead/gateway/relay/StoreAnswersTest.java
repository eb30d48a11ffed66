package io.railhead.gateway.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.backend.BackendResponse;
import io.railhead.backend.Headers;
import io.railhead.gateway.request.ResponseSink;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class StoreAnswersTest {
    private final ResponseSink responseSink = new ResponseSink() {
        @Override
        public Executor executor() {
            return Runnable::run;
        }

        @Override
        public long arrivedAtNanos() {
            return 0;
        }

        @Override
        public boolean isOver() {
            return false;
        }

        @Override
        public void onClosed(Runnable listener) {
            // Nobody leaves.
        }

        @Override
        public void fail(Throwable cause) {
            throw new AssertionError("the executor fails it", cause);
        }
    };

    @Test
    void aBodyThatCannotBeTakenIsLetGo() {
        AtomicInteger readers = new AtomicInteger();
        BackendResponse answer = new BackendResponse(200, Headers.NONE,
                _ -> readers.incrementAndGet());
        var taking = StoreAnswers.to(responseSink, (_, _) -> {
            throw new NoSuchFieldError("planted");
        });
        assertThatThrownBy(() -> taking.accept(answer, new IllegalStateException()))
                .isInstanceOf(NoSuchFieldError.class);
        assertThat(readers).hasValue(1);
    }
}
