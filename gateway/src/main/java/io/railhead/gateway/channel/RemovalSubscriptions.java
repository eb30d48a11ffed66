package io.railhead.gateway.channel;

import io.railhead.gateway.object.cacheonly.CacheOnlyKeys;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One channel's subscriptions to removals. The channel's own thread begins them; any thread may end
 * them. They are not counted among requests in flight, since they wait for others.
 */
final class RemovalSubscriptions {
    /** The most subscriptions of one session. */
    static final int MAX_SUBSCRIPTIONS = 8;
    /** The longest wait of one request. */
    static final int MAX_WAIT_MILLIS = 60_000;

    private final BiConsumer<Request, Answer> answered;
    private final BiConsumer<Request, Throwable> failed;
    private final Map<Name, RemovalSubscription> subscriptions = new ConcurrentHashMap<>();

    private record Name(String bucket, String prefix) {}

    /**
     * @param answered receives each answer, on any thread
     * @param failed receives what was thrown while an answer was made, on any thread
     */
    RemovalSubscriptions(BiConsumer<Request, Answer> answered,
            BiConsumer<Request, Throwable> failed) {
        this.answered = answered;
        this.failed = failed;
    }

    /**
     * Has a REMOVALS wait, and begins its subscription if there is none.
     *
     * @param rights returns what the caller may see at that time; null once it may see nothing
     * @throws S3Refusal if the request cannot wait; then it has no answer yet
     */
    void await(Request request, CacheOnlyKeys keys, Supplier<@Nullable CacheOnlyKeys> rights) {
        int millis = request.partNumber();
        if (millis > MAX_WAIT_MILLIS) {
            throw new S3Refusal(S3Error.INVALID_ARGUMENT, "REMOVALS wait at most "
                    + MAX_WAIT_MILLIS + " milliseconds: " + millis);
        }
        Name name = new Name(request.bucket(), request.key());
        RemovalSubscription known = subscriptions.get(name);
        if (known != null && known.isClosed() && subscriptions.remove(name, known)) {
            known = null;
        }
        if (known == null && subscriptions.size() >= MAX_SUBSCRIPTIONS) {
            throw new S3Refusal(S3Error.SLOW_DOWN,
                    "A session has at most " + MAX_SUBSCRIPTIONS + " subscriptions to removals.");
        }
        if (known == null) {
            known = new RemovalSubscription(keys, name.prefix(), rights, answered, failed);
            subscriptions.put(name, known);
        }
        if (!known.tryAwait(request, millis)) {
            throw new S3Refusal(S3Error.INVALID_ARGUMENT,
                    "Another REMOVALS of this prefix waits already.");
        }
    }

    /** Cancels a request that waits, and ends its subscription. Ignores an unknown id. */
    void cancel(int requestId) {
        subscriptions.forEach((name, subscription) -> {
            if (subscription.isOf(requestId) && subscriptions.remove(name, subscription)) {
                subscription.close(Answer.CANCELLED);
            }
        });
    }

    /** Ends all subscriptions, and answers the requests that wait with this reason. */
    void endAll(String reason) {
        subscriptions.values().forEach(subscription -> subscription.close(reason));
        subscriptions.clear();
    }

    /** Ends all subscriptions with their channel, which takes no answer any more. */
    void lose() {
        subscriptions.values().forEach(RemovalSubscription::close);
        subscriptions.clear();
    }
}
