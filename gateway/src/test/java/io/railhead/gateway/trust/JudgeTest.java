package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whether the judge of the random histories sees what is wrong, and nothing else. */
class JudgeTest {
    private static final Content FIRST = Content.create(1, 100);
    private static final Content SECOND = Content.create(2, 200);

    private final AtomicLong clock = new AtomicLong();
    private final ReferenceStore store = new ReferenceStore(clock::get);
    private final Judge judge = new Judge(store, List.of(Promise.strong("strong"),
            Promise.bounded("bounded", Duration.ofSeconds(30), Duration.ZERO),
            Promise.exclusive("exclusive", Duration.ZERO)));

    private static Operation operation(Operation.Kind kind, String path,
            @Nullable Content content, long mark) {
        return new Operation(0, kind, 0, path, 0, 0, content, mark, "", 0);
    }

    private void store(String path, Content content, long mark, long atNanos) {
        clock.set(atNanos);
        Message put = new Message("PUT " + path + " HTTP/1.1", List.of(), content.bytes())
                .with(ReferenceStore.MARK, Long.toString(mark));
        assertThat(store.handle(put).status()).isEqualTo(200);
    }

    /** One that was stored once, and answered. */
    private void write(String path, Content content, long mark, long fromNanos, long toNanos) {
        store(path, content, mark, (fromNanos + toNanos) / 2);
        assertThat(judge.judge(new Judge.Sight(operation(Operation.Kind.PUT, path, content, mark),
                "AK", new Observation.Written(), fromNanos, toNanos))).isNull();
    }

    private @Nullable String list(String bucket, Content seen, long fromNanos, long toNanos) {
        return judge.judge(new Judge.Sight(
                operation(Operation.Kind.LIST, "/" + bucket + "/x", null, 9), "AK",
                new Observation.Listed(Map.of("key", seen.etag())), fromNanos, toNanos));
    }

    private @Nullable String head(String bucket, Content seen, long mark, long fromNanos) {
        return judge.judge(new Judge.Sight(
                operation(Operation.Kind.HEAD, "/" + bucket + "/key", null, 9), "AK",
                new Observation.Described(seen.etag(), mark, seen.sizeBytes()), fromNanos,
                fromNanos + 5));
    }

    @Test
    void whatWasReplacedBeforeTheQuestionMayNotBeSeen() {
        write("/strong/key", FIRST, 1, 10, 20);
        write("/strong/key", SECOND, 2, 30, 40);
        assertThat(list("strong", SECOND, 50, 60)).isNull();
        assertThat(list("strong", FIRST, 50, 60)).contains("it was replaced");
        assertThat(list("strong", FIRST, 33, 60)).isNull();
    }

    @Test
    void whatMayBeOldIsNeverOlderThanWhatTheGatewayAnswered() {
        write("/bounded/key", FIRST, 1, 10, 20);
        store.putBehind("/bounded/key", SECOND, 2);
        assertThat(head("bounded", FIRST, 1, 50)).isNull();
        write("/bounded/key", FIRST, 3, 60, 70);
        assertThat(head("bounded", FIRST, 1, 65)).isNull();
        assertThat(head("bounded", FIRST, 1, 80)).contains("was answered before");
    }

    /** A right may go while an object comes. */
    @Test
    void whoIsRefusedHasNothingButWhatHeWasAllowedASpanAgo() {
        clock.set(10);
        store.permit("AK", false);
        assertThat(refused(false, 5)).isNull();
        assertThat(refused(true, 5)).isNull();
        assertThat(refused(false, 50)).isNull();
        assertThat(refused(true, 50)).contains("bytes for whom the store denies it");
        clock.set(60);
        store.permit("AK", true);
        assertThat(refused(false, 70)).contains("refused what is permitted");
    }

    private @Nullable String refused(boolean begun, long fromNanos) {
        return judge.judge(new Judge.Sight(
                operation(Operation.Kind.GET_BY_TOKEN, "/strong/key", null, 9), "AK",
                new Observation.Refused("AccessDenied", begun), fromNanos, fromNanos + 8));
    }

    /** An attempt that was given up may write when another of the same write has been answered. */
    @Test
    void whatALateAttemptWritesIsNewFromThenOnAndNotBefore() {
        write("/exclusive/key", FIRST, 1, 10, 20);
        write("/exclusive/key", SECOND, 2, 30, 40);
        store("/exclusive/key", FIRST, 1, 55);
        assertThat(list("exclusive", SECOND, 50, 60)).isNull();
        assertThat(list("exclusive", FIRST, 50, 60)).isNull();
        assertThat(list("exclusive", SECOND, 70, 80)).contains("it was replaced");
    }
}
