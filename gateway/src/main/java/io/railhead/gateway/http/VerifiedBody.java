package io.railhead.gateway.http;

import io.railhead.gateway.s3.Guard;
import io.railhead.gateway.s3.body.BodyReader;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * An upload's body on its way to the backend. Pieces are decoded and verified, and fetched only on
 * the backend's demand. The last piece is held back until the whole body matches its declaration. A
 * failure fails the backend's request, so the store commits nothing.
 *
 * <p> State belongs to the event loop behind the executor; the subscriber's calls are moved there.
 */
public abstract class VerifiedBody implements Publisher<ByteBuffer> {
    private final Executor executor;
    private final BodyReader reader;
    private final Queue<ByteBuffer> verified = new ArrayDeque<>();
    private @Nullable Subscriber<? super ByteBuffer> subscriber;
    private @Nullable Throwable failure;
    private long demand;
    private boolean fetching;
    private boolean ended;
    private boolean over;

    public VerifiedBody(Executor executor, BodyReader reader) {
        this.executor = executor;
        this.reader = reader;
    }

    /** Prepares the source for the subscriber; called once, before any {@link #fetch}. */
    protected abstract void begin();

    /**
     * Fetches more bytes: one call of {@link #received}, {@link #ended} or {@link #fail} must
     * follow.
     */
    protected abstract void fetch();

    /** Returns why the body was unreadable or did not match its declaration; null if it is good. */
    public final @Nullable Throwable failure() {
        return failure;
    }

    /** Returns whether the whole body was verified and passed on. */
    public final boolean isComplete() {
        return ended && verified.isEmpty();
    }

    /** Stops the body; a waiting subscriber gets the cause. Event loop only. */
    public final void abort(Throwable cause) {
        fail(cause);
    }

    @Override
    public final void subscribe(Subscriber<? super ByteBuffer> newSubscriber) {
        execute(() -> {
            subscriber = newSubscriber;
            newSubscriber.onSubscribe(new Subscription() {
                @Override
                public void request(long n) {
                    VerifiedBody.this.execute(() -> demanded(n));
                }

                @Override
                public void cancel() {
                    VerifiedBody.this.execute(() -> over = true);
                }
            });
            if (failure != null) {
                newSubscriber.onError(failure);
            } else {
                begin();
            }
        });
    }

    private void execute(Runnable step) {
        executor.execute(() -> attempt(step));
    }

    /** Runs a step; anything thrown fails the body, the backend's request and the client's. */
    private void attempt(Runnable step) {
        Guard.run(step, this::fail);
    }

    private void demanded(long n) {
        demand = demand + n < 0 ? Long.MAX_VALUE : demand + n;
        emit();
    }

    /** Takes bytes from the source; their content must not change any more. */
    public final void received(ByteBuffer bytes) {
        fetching = false;
        attempt(() -> {
            reader.accept(bytes, verified::add);
            emit();
        });
    }

    /** Takes the end of the bytes from the source. */
    public final void ended() {
        fetching = false;
        if (ended || over) {
            return;
        }
        attempt(() -> {
            reader.end(verified::add);
            ended = true;
            emit();
        });
    }

    private void emit() {
        Subscriber<? super ByteBuffer> to = subscriber;
        if (to == null) {
            return;
        }
        while (demand > 0 && !over && !verified.isEmpty()) {
            demand--;
            to.onNext(verified.remove());
        }
        if (over) {
            return;
        }
        if (ended && verified.isEmpty()) {
            over = true;
            to.onComplete();
        } else if (demand > 0 && !fetching && !ended) {
            fetching = true;
            fetch();
        }
    }

    public final void fail(Throwable cause) {
        if (over) {
            return;
        }
        over = true;
        failure = cause;
        if (subscriber != null) {
            subscriber.onError(cause);
        }
    }
}
