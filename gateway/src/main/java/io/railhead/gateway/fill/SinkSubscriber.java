package io.railhead.gateway.fill;

import io.railhead.cache.FillException;
import io.railhead.cache.PageSource;
import java.nio.ByteBuffer;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** A backend's body on its way into pages: no demand is held back, since the memory is there. */
final class SinkSubscriber implements Subscriber<ByteBuffer> {
    private final PageSource.Sink sink;

    SinkSubscriber(PageSource.Sink sink) {
        this.sink = sink;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(ByteBuffer bytes) {
        sink.write(bytes);
    }

    @Override
    public void onError(Throwable cause) {
        sink.fail(new FillException(FillException.Reason.BACKEND_FAILED,
                "the backend's body broke off", cause));
    }

    @Override
    public void onComplete() {
        sink.complete();
    }
}
