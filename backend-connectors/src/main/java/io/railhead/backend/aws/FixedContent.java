package io.railhead.backend.aws;

import io.railhead.backend.FixedBody;
import java.nio.ByteBuffer;
import java.util.Optional;
import org.reactivestreams.Subscriber;
import software.amazon.awssdk.http.async.SdkHttpContentPublisher;

/** A body in memory, for the SDK's clients. Can be subscribed to again. */
record FixedContent(FixedBody body) implements SdkHttpContentPublisher {
    static final FixedContent NONE = of(ByteBuffer.allocate(0));

    static FixedContent of(ByteBuffer content) {
        return new FixedContent(new FixedBody(content));
    }

    @Override
    public Optional<Long> contentLength() {
        return Optional.of((long) body.content().remaining());
    }

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
        body.subscribe(subscriber);
    }
}
