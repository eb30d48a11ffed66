package io.railhead.gateway.trust;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import org.jspecify.annotations.Nullable;

/** Takes one HTTP answer as far as it comes: of one that is cut, what came before. Any thread. */
public final class Arrival implements BodyHandler<Arrived>, BodySubscriber<Arrived> {
    private final CompletableFuture<Arrived> end = new CompletableFuture<>();
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private @Nullable ResponseInfo head;

    @Override
    public synchronized BodySubscriber<Arrived> apply(ResponseInfo info) {
        head = info;
        return this;
    }

    @Override
    public CompletionStage<Arrived> getBody() {
        return end;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public synchronized void onNext(List<ByteBuffer> buffers) {
        for (ByteBuffer buffer : buffers) {
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            body.writeBytes(bytes);
        }
    }

    @Override
    public void onError(Throwable failure) {
        end.complete(come(false));
    }

    @Override
    public void onComplete() {
        end.complete(come(true));
    }

    /**
     * What came of what was sent with this. Of an answer that is cut the JDK's client tells now and
     * then its error, which comes by another way, and not what this makes of it.
     */
    public CompletableFuture<Arrived> of(CompletableFuture<HttpResponse<Arrived>> sent) {
        return sent.thenApply(HttpResponse::body).exceptionallyCompose(failure -> {
            Arrived come = soFar();
            return come == null
                    ? CompletableFuture.failedFuture(failure)
                    : CompletableFuture.completedFuture(come);
        });
    }

    /** By now; null: not even its head. */
    public synchronized @Nullable Arrived soFar() {
        return head == null ? null : come(false);
    }

    private synchronized Arrived come(boolean whole) {
        ResponseInfo answer = Objects.requireNonNull(head);
        return new Arrived(answer.statusCode(), answer.headers(), body.toByteArray(), whole);
    }
}
