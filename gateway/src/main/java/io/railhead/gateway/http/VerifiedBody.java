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
 * An upload's body on its way to the backend: decoded and verified piece by piece, fetched only as
 * the backend asks for it, its last piece held back until all of it proved to be what was declared.
 * A failure fails the backend's request, so that nothing is committed there.
 *
 * <p>State belongs to the event loop behind the executor; the subscriber's calls are taken there.
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

    /** Somebody listens; called once, before any {@link #fetch}. */
    protected abstract void begin();

    /** Get more: one call of {@link #received}, {@link #ended} or {@link #fail} must follow. */
    protected abstract void fetch();

    /** Why the body could not be read or was not what was declared; null if it was. */
    public final @Nullable Throwable failure() {
        return failure;
    }

    /** Whether all of it was verified and handed on. */
    public final boolean isComplete() {
        return ended && verified.isEmpty();
    }

    /** Stops; the subscriber, if it still waits, hears the cause. Event loop only. */
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

    /** Fails the body, and so the backend's request and the client's, with whatever is thrown. */
    private void attempt(Runnable step) {
        Guard.run(step, this::fail);
    }

    private void demanded(long n) {
        demand = demand + n < 0 ? Long.MAX_VALUE : demand + n;
        emit();
    }

    /** Bytes as they came; their content must not change any more. */
    public final void received(ByteBuffer bytes) {
        fetching = false;
        attempt(() -> {
            reader.accept(bytes, verified::add);
            emit();
        });
    }

    /** No more bytes come. */
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
