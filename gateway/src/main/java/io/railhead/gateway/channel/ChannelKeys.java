package io.railhead.gateway.channel;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.cache.CacheOnlyObjects;
import io.railhead.gateway.object.cacheonly.CacheOnlyKeys;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.HeldKeys;
import io.railhead.protocol.channel.KeyUsage;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.message.MessageException;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * Answers one request that names many cache-only objects. No call asks a store, and none blocks but
 * a LEASE, which may wait for a disk ({@link CacheOnlyKeys#mayWait}). One message bounds the work,
 * but for a {@link #isScan scan}. Any thread.
 *
 * @param isOver returns whether nobody waits for the answer any more
 */
record ChannelKeys(CacheOnlyKeys objects, BooleanSupplier isOver) {
    /** S3's bound of a key, in bytes. */
    private static final int MAX_KEY_BYTES = 1024;
    /** The most keys whose rights are looked at without leaving the channel's thread. */
    private static final int MAX_AT_ONCE = 32;
    /** The most objects that one DELETE_PREFIX removes. */
    private static final int MAX_REMOVED = 256;

    /** Returns whether an answer may take longer than an event loop may be held. */
    static boolean isLong(Request request) {
        return isScan(request) || request.keys().count() > MAX_AT_ONCE;
    }

    /** Returns whether the request looks at all objects below a prefix. */
    static boolean isScan(Request request) {
        return !request.operation().hasKeyBlock();
    }

    /** @throws S3Refusal if the keys are malformed; then nothing was removed */
    Answer answer(Request request) {
        return switch (request.operation()) {
            case EXISTS -> marked(request, objects::exists);
            case PREFIX -> Answer.ofKeys(request.id(), objects.leading(List.of(keys(request))),
                    Map.of());
            case DELETE -> marked(request, this::remove);
            case DELETE_PREFIX -> Answer.ofKeys(request.id(),
                    objects.deletePrefix(request.key(), MAX_REMOVED, isOver), Map.of());
            case LEASE -> lease(request);
            case TOUCH -> marked(request, objects::touch);
            case USAGE -> usage(request);
            case GET, HEAD, PUT, UPLOAD_PART, REMOVALS -> throw new IllegalArgumentException(
                    "not answered at once from keys: " + request.operation());
        };
    }

    /** Returns an answer with a bit for each key. */
    private static Answer marked(Request request, Predicate<String> test) {
        String[] keys = keys(request);
        BitSet marks = new BitSet(keys.length);
        for (int i = 0; i < keys.length; i++) {
            marks.set(i, test.test(keys[i]));
        }
        return Answer.ofKeys(request.id(), marks.cardinality(),
                Map.of(HeldKeys.HEADER, HeldKeys.format(marks, keys.length)));
    }

    private Answer lease(Request request) {
        Duration time = Duration.ofMillis(request.partNumber());
        if (time.compareTo(CacheOnlyObjects.MAX_LEASE) > 0) {
            throw new S3Refusal(S3Error.INVALID_ARGUMENT, "A lease lasts at most "
                    + CacheOnlyObjects.MAX_LEASE.toMillis() + " milliseconds: " + time.toMillis());
        }
        // Each key may wait for a disk, so nothing is read for a caller that has gone.
        return marked(request,
                key -> !isOver.getAsBoolean() && objects.tryLease(key, time));
    }

    private Answer usage(Request request) {
        CacheOnlyObjects.Usage usage = objects.usage(request.key(), isOver);
        return new KeyUsage(usage.objects(), usage.bytes(), usage.leasedBytes(),
                usage.limitBytes()).answer(request.id());
    }

    /** Returns whether the object is gone; false if the caller may not delete it. */
    private boolean remove(String key) {
        try {
            objects.delete(key);
            return true;
        } catch (S3Refusal denied) {
            return false;
        }
    }

    private static String[] keys(Request request) {
        String[] keys;
        try {
            keys = request.keys().keys(request.key());
        } catch (MessageException e) {
            throw new S3Refusal(S3Error.INVALID_ARGUMENT, String.valueOf(e.getMessage()));
        }
        for (String key : keys) {
            if (key.length() > MAX_KEY_BYTES || key.getBytes(UTF_8).length > MAX_KEY_BYTES) {
                throw new S3Refusal(S3Error.KEY_TOO_LONG);
            }
        }
        return keys;
    }
}
