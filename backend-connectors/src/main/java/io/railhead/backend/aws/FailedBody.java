package io.railhead.backend.aws;

import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** A body that is not available any more. */
final class FailedBody implements Subscription {
    private FailedBody() {}

    static void subscribe(Subscriber<?> subscriber, Throwable cause) {
        subscriber.onSubscribe(new FailedBody());
        subscriber.onError(cause);
    }

    @Override
    public void request(long n) {}

    @Override
    public void cancel() {}
}
