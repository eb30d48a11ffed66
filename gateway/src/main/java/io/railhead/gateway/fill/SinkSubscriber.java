package io.railhead.gateway.fill;

import io.railhead.cache.FillException;
import io.railhead.cache.PageSource;
import io.railhead.gateway.s3.Guard;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * A backend's body on its way into pages. Demand is unbounded, since the memory is already
 * reserved.
 */
final class SinkSubscriber implements Subscriber<ByteBuffer> {
    private final PageSource.Sink sink;
    private @Nullable Subscription subscription;

    SinkSubscriber(PageSource.Sink sink) {
        this.sink = sink;
    }

    @Override
    public void onSubscribe(Subscription newSubscription) {
        subscription = newSubscription;
        newSubscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(ByteBuffer bytes) {
        Guard.run(() -> sink.write(bytes), this::thrown);
    }

    @Override
    public void onError(Throwable cause) {
        sink.fail(new FillException(FillException.Reason.BACKEND_FAILED,
                "the backend's body broke off", cause));
    }

    @Override
    public void onComplete() {
        Guard.run(sink::complete, this::thrown);
    }

    private void thrown(Throwable cause) {
        if (subscription != null) {
            subscription.cancel();
        }
        sink.fail(BackendPageSource.failed(cause));
    }
}
