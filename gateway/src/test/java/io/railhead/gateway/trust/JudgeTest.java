package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.trust.Observation.Way;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whether the judge of the random histories sees what is wrong, and nothing else. */
class JudgeTest {
    private static final Content FIRST = Content.create(1, 100);
    private static final Content SECOND = Content.create(2, 200);
    private static final String DENIED = "the store denies it";

    private final AtomicLong clock = new AtomicLong();
    private final ReferenceStore store = new ReferenceStore(clock::get, Set.of("own"),
            List.of("AK", "OTHER"));
    private final Judge judge = new Judge(store, List.of(Promise.strong("strong"),
            Promise.bounded("bounded", Duration.ofSeconds(30), Duration.ofSeconds(60)),
            Promise.exclusive("exclusive", Duration.ZERO), Promise.strong("own")));

    private static Operation operation(Operation.Kind kind, String path,
            @Nullable Content content, long mark) {
        return new Operation(0, kind, 0, path, 0, 0, content, mark, "", 0);
    }

    private void store(String path, Content content, long mark, long atNanos) {
        clock.set(atNanos);
        Message put = new Message("PUT " + path + " HTTP/1.1", List.of(), content.bytes())
                .with(ReferenceStore.MARK, Long.toString(mark));
        assertThat(store.ask(put).status()).isEqualTo(200);
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

    @Test
    void aListNamesNothingThatNeverWas() {
        write("/strong/key", FIRST, 1, 10, 20);
        assertThat(judge.judge(new Judge.Sight(
                operation(Operation.Kind.LIST, "/strong/x", null, 9), "AK",
                new Observation.Listed(Map.of("key", FIRST.etag(), "foreign", FIRST.etag())), 50,
                60))).contains("foreign");
    }

    /** A write that the gateway keeps to itself, and the store gets later. */
    @Test
    void aWriteIsDoneBeforeItIsAnswered() {
        store("/strong/key", FIRST, 1, 60);
        assertThat(written(Operation.Kind.PUT, FIRST, 1, 40, 50)).contains("I2");
        assertThat(written(Operation.Kind.PUT, FIRST, 1, 40, 60)).isNull();
        clock.set(90);
        assertThat(store.ask(new Message("DELETE /strong/key HTTP/1.1", List.of(), new byte[0])
                .with(ReferenceStore.MARK, "2")).status()).isEqualTo(204);
        assertThat(written(Operation.Kind.DELETE, null, 2, 70, 80)).contains("I2");
        assertThat(written(Operation.Kind.DELETE, null, 2, 70, 90)).isNull();
    }

    private @Nullable String written(Operation.Kind kind, @Nullable Content content, long mark,
            long fromNanos, long toNanos) {
        return judge.judge(new Judge.Sight(operation(kind, "/strong/key", content, mark), "AK",
                new Observation.Written(), fromNanos, toNanos));
    }

    /** A right may go while an object comes. */
    @Test
    void whoIsRefusedHasNothingButWhatHeWasAllowedASpanAgo() {
        clock.set(10);
        store.permit("AK", "strong", false);
        assertThat(refused(false, 5)).isNull();
        assertThat(refused(true, 5)).isNull();
        assertThat(refused(false, 50)).isNull();
        assertThat(refused(true, 50)).contains("the store denies it");
        clock.set(60);
        store.permit("AK", "strong", true);
        assertThat(refused(false, 70)).contains("refused what is permitted");
    }

    private @Nullable String refused(boolean begun, long fromNanos) {
        return see(new Observation.Refused("AccessDenied", begun), fromNanos);
    }

    @Test
    void bytesThatCameBeforeAFailureAreOnesThatHeMayRead() {
        clock.set(10);
        store.permit("AK", "strong", false);
        assertThat(see(new Observation.Failed("503", false), 50)).isNull();
        assertThat(see(new Observation.Failed("503", true), 5)).isNull();
        assertThat(see(new Observation.Failed("503", true), 50)).contains(DENIED);
        assertThat(see(new Observation.Declined("CANCELLED", false), 50)).isNull();
        assertThat(see(new Observation.Declined("CANCELLED", true), 50)).contains(DENIED);
    }

    @Test
    void whoIsDeniedIsNotToldWhatThereIsNot() {
        clock.set(10);
        store.permit("AK", "strong", false);
        assertThat(see(new Observation.Absent(), 5)).isNull();
        assertThat(see(new Observation.Absent(), 50)).contains(DENIED);
        clock.set(20);
        store.putBehind("/strong/key", FIRST, 1);
        Operation beyond = new Operation(0, Operation.Kind.GET, 0, "/strong/key", 100, 9, null, 9,
                "", 0);
        assertThat(judge.judge(new Judge.Sight(beyond, "AK", new Observation.Unsatisfiable(), 50,
                58))).contains(DENIED);
    }

    @Test
    void anAbsenceIsRememberedForSecondsOnlyWhateverARuleSays() {
        long seconds = 1_000_000_000;
        clock.set(10 * seconds);
        store.permit("AK", "bounded", false);
        assertThat(absent("bounded", 14 * seconds)).isNull();
        assertThat(absent("bounded", 16 * seconds)).contains(DENIED);
        store.permit("AK", "bounded", true);
        store.putBehind("/bounded/key", FIRST, 1);
        assertThat(absent("bounded", 14 * seconds)).isNull();
        assertThat(absent("bounded", 16 * seconds)).contains("it was replaced");
    }

    @Test
    void aRightIsToOneBucket() {
        clock.set(10);
        store.permit("AK", "strong", false);
        write("/bounded/key", FIRST, 1, 50, 60);
        assertThat(head("bounded", FIRST, 1, 70)).isNull();
        store.putBehind("/strong/key", FIRST, 2);
        assertThat(head("strong", FIRST, 2, 70)).contains(DENIED);
    }

    @Test
    void aWriteAndAListAskTheStore() {
        store("/bounded/key", FIRST, 1, 20);
        clock.set(30);
        store.permit("AK", "bounded", false);
        assertThat(head("bounded", FIRST, 1, 40)).isNull();
        assertThat(list("bounded", FIRST, 40, 50)).contains(DENIED);
        assertThat(judge.judge(new Judge.Sight(
                operation(Operation.Kind.PUT, "/bounded/key", FIRST, 1), "AK",
                new Observation.Written(), 40, 50))).contains(DENIED);
    }

    @Test
    void whatIsNotSharedIsEachOnesOwn() {
        assertThat(asked("PUT", "AK").status()).isEqualTo(200);
        assertThat(asked("GET", "AK").body()).isEqualTo(FIRST.bytes());
        assertThat(asked("GET", "OTHER").status()).isEqualTo(404);
        assertThat(own(0, "AK")).isNull();
        assertThat(own(1, "OTHER")).contains("no version is that");
    }

    private Message asked(String method, String accessKey) {
        return store.ask(new Message(method + " /own/key HTTP/1.1", List.of(), FIRST.bytes())
                .with("Authorization", "AWS4-HMAC-SHA256 Credential=" + accessKey + "/x"));
    }

    private @Nullable String own(int principal, String accessKey) {
        Operation head = new Operation(0, Operation.Kind.HEAD, principal, "/own/key", 0, 0, null, 9,
                "", 0);
        return judge.judge(new Judge.Sight(head, accessKey,
                new Observation.Described(FIRST.etag(), 0, FIRST.sizeBytes()), 20, 30));
    }

    @Test
    void aCopyIsOfWhatItsSourceThenWas() {
        store("/strong/from", FIRST, 1, 10);
        store("/strong/from", SECOND, 2, 20);
        store("/strong/to", FIRST, 3, 40);
        store("/strong/to", SECOND, 4, 41);
        assertThat(copied("/strong/to", 3, 30)).contains("I2");
        assertThat(copied("/strong/to", 3, 15)).contains("I2");
        assertThat(copied("/strong/to", 4, 30)).isNull();
        store("/strong/from", FIRST, 5, 42);
        assertThat(copied("/strong/from", 5, 30)).contains("I2");
    }

    private @Nullable String copied(String path, long mark, long fromNanos) {
        return copied(path, mark, new Observation.Written(), fromNanos);
    }

    private @Nullable String copied(String path, long mark, Observation seen, long fromNanos) {
        String source = path.replaceFirst("[^/]*$", "from");
        return judge.judge(new Judge.Sight(
                new Operation(0, Operation.Kind.COPY, 0, path, 0, 0, null, mark, source, 0), "AK",
                seen, fromNanos, fromNanos + 20));
    }

    /** Of that the store is asked, whatever may be remembered. */
    @Test
    void thatThereIsNothingToCopyIsSaidOfItsSource() {
        store("/bounded/from", FIRST, 1, 10);
        assertThat(copied("/bounded/to", 2, new Observation.Absent(), 20)).contains("replaced");
        clock.set(50);
        store.putBehind("/bounded/from", null, 3);
        store("/bounded/to", FIRST, 4, 51);
        assertThat(copied("/bounded/to", 5, new Observation.Absent(), 60)).isNull();
    }

    @Test
    void noOtherWriteIsToldThatThereIsNothing() {
        assertThat(judge.judge(new Judge.Sight(
                operation(Operation.Kind.PUT, "/strong/key", FIRST, 1), "AK",
                new Observation.Absent(), 10, 20))).contains("I2");
    }

    @Test
    void onlyAStoreAnswersARangeWithAllOfIt() {
        store("/strong/key", FIRST, 1, 10);
        assertThat(ranged(0, FIRST.bytes(), Way.RELAYED)).isNull();
        assertThat(ranged(0, FIRST.bytes(), Way.IN_A_BODY)).contains("no version is that");
        assertThat(ranged(0, FIRST.bytes(), Way.INTO_A_BUFFER)).contains("no version is that");
        assertThat(ranged(16, FIRST.bytes(16, 48), Way.INTO_A_BUFFER)).isNull();
        assertThat(ranged(16, FIRST.bytes(16, 40), Way.INTO_A_BUFFER)).contains("no version");
    }

    private @Nullable String ranged(int first, byte[] bytes, Way way) {
        Operation asked = new Operation(0, Operation.Kind.GET, 0, "/strong/key", 16, 32, null, 9,
                "", 0);
        return judge.judge(new Judge.Sight(asked, "AK",
                new Observation.Read(FIRST.etag(), 1, FIRST.sizeBytes(), first, bytes, way), 20,
                30));
    }

    @Test
    void whatCameBeforeACutIsTheBeginningOfWhatWasAskedFor() {
        store("/strong/key", FIRST, 1, 10);
        assertThat(cut(16, FIRST.bytes(16, 40), 20)).isNull();
        assertThat(cut(16, FIRST.bytes(16, 48), 20)).isNull();
        assertThat(cut(16, FIRST.bytes(16, 49), 20)).contains("no version is that");
        assertThat(cut(0, FIRST.bytes(0, 16), 20)).contains("no version is that");
        assertThat(cut(16, SECOND.bytes(16, 40), 20)).contains("no version is that");
        assertThat(cut(16, new byte[0], 20)).isNull();
    }

    @Test
    void noneOfItIsTooOldOrAnothers() {
        store("/strong/key", FIRST, 1, 10);
        store("/strong/key", SECOND, 2, 20);
        assertThat(cut(16, FIRST.bytes(16, 40), 15)).isNull();
        assertThat(cut(16, FIRST.bytes(16, 40), 30)).contains("it was replaced");
        store("/strong/key", FIRST, 3, 40);
        clock.set(50);
        store.permit("AK", "strong", false);
        assertThat(cut(16, new byte[0], 60)).contains(DENIED);
    }

    /** Of the part that is asked for, so many bytes of the first version. */
    private @Nullable String cut(int first, byte[] bytes, long fromNanos) {
        return judge.judge(new Judge.Sight(
                new Operation(0, Operation.Kind.GET, 0, "/strong/key", 16, 32, null, 9, "", 0),
                "AK", new Observation.Cut(new Observation.Read(FIRST.etag(), -1,
                        FIRST.sizeBytes(), first, bytes, Way.IN_A_BODY), false),
                fromNanos, fromNanos + 5));
    }

    /** Whole objects are verified before their last page is handed out. */
    @Test
    void whatHasChangedOnItsWayIsCutBeforeTheLastPage() {
        Content large = flipped(100, 20);
        byte[] bytes = large.bytes();
        bytes[100] ^= 1;
        assertThat(cut(large, Arrays.copyOf(bytes, Judge.PAGE_BYTES))).isNull();
        assertThat(cut(large, Arrays.copyOf(bytes, Judge.PAGE_BYTES + 1)))
                .contains("no version is that");
    }

    private @Nullable String cut(Content content, byte[] bytes) {
        return judge.judge(new Judge.Sight(
                operation(Operation.Kind.GET, "/strong/key", null, 9), "AK",
                new Observation.Cut(new Observation.Read(content.etag(), 1, content.sizeBytes(),
                        0, bytes, Way.IN_A_BODY), false),
                30, 40));
    }

    /** An object of two pages of which a bit changed on its way. */
    private Content flipped(int at, long atNanos) {
        Content large = Content.create(7, 2 * Judge.PAGE_BYTES);
        store("/strong/key", large, 1, 10);
        flip(large, at, atNanos);
        return large;
    }

    @Test
    void onlyAPartMayHaveTheBitThatChangedOnItsWay() {
        Content large = flipped(100, 20);
        int at = 100;
        assertThat(part(large, 0, 200, at, 30)).isNull();
        assertThat(part(large, 0, 200, at + 1, 30)).contains("no version is that");
        assertThat(part(large, 0, large.sizeBytes(), at, 30)).contains("no version is that");
        assertThat(part(large, 0, Judge.PAGE_BYTES + 1, at, 30)).contains("no version is that");
    }

    @Test
    void norThatOnceAllOfItWasRight() {
        Content large = flipped(100, 20);
        int at = 100;
        assertThat(part(large, 0, large.sizeBytes(), -1, 30)).isNull();
        assertThat(part(large, 0, 200, at, 35)).isNull();
        assertThat(part(large, 0, 200, at, 50)).contains("no version is that");
        flip(large, at, 60);
        assertThat(part(large, 0, 200, at, 70)).isNull();
    }

    /** A rule that shares no more gives each principal an entry, and leaves the shared one. */
    @Test
    void anEntryThatWasRightSaysNothingOfAnotherOne() {
        Content large = flipped(100, 20);
        int at = 100;
        assertThat(part(large, 0, large.sizeBytes(), -1, 30)).isNull();
        assertThat(part(large, 0, 200, at, 50)).contains("no version is that");
        judge.dividing();
        assertThat(part(large, 0, large.sizeBytes(), -1, 60)).isNull();
        assertThat(part(large, 0, 200, at, 80)).isNull();
        judge.divided(90);
        assertThat(part(large, 0, 200, at, 100)).isNull();
        assertThat(part(large, 0, large.sizeBytes(), -1, 110)).isNull();
        assertThat(part(large, 0, 200, at, 130)).contains("no version is that");
    }

    @Test
    void whatIsNotKeptMayHaveWhatChangedMeanwhile() {
        store("/strong/key", FIRST, 1, 10);
        flip(FIRST, 70, 20);
        assertThat(part(FIRST, 0, FIRST.sizeBytes(), 70, 15, Way.RELAYED)).isNull();
        assertThat(part(FIRST, 0, FIRST.sizeBytes(), 70, 15, Way.IN_A_BODY))
                .contains("no version is that");
        assertThat(part(FIRST, 0, FIRST.sizeBytes(), 70, 30, Way.RELAYED))
                .contains("no version is that");
    }

    private void flip(Content content, int at, long atNanos) {
        clock.set(atNanos);
        Message get = new Message("GET /strong/key HTTP/1.1", List.of(), new byte[0])
                .with("Range", "bytes=64-1000");
        Message sent = store.ask(get);
        assertThat(sent.header("etag")).isEqualTo(content.etag());
        store.changed(get, sent, new Toxic.CorruptByte(at - 64).altered(sent));
    }

    private @Nullable String part(Content content, int first, int length, int wrong,
            long fromNanos) {
        return part(content, first, length, wrong, fromNanos, Way.IN_A_BODY);
    }

    /** So many bytes from there on, of which one at most is wrong. */
    private @Nullable String part(Content content, int first, int length, int wrong,
            long fromNanos, Way way) {
        byte[] bytes = content.bytes(first, first + length);
        if (wrong >= 0) {
            bytes[wrong - first] ^= 1;
        }
        return judge.judge(new Judge.Sight(
                new Operation(0, Operation.Kind.GET, 0, "/strong/key", first, length, null, 9, "",
                        0),
                "AK",
                new Observation.Read(content.etag(), 1, content.sizeBytes(), first, bytes, way),
                fromNanos, fromNanos + 10));
    }

    private @Nullable String see(Observation seen, long fromNanos) {
        return judge.judge(new Judge.Sight(
                operation(Operation.Kind.GET_BY_TOKEN, "/strong/key", null, 9), "AK", seen,
                fromNanos, fromNanos + 8));
    }

    private @Nullable String absent(String bucket, long fromNanos) {
        return judge.judge(new Judge.Sight(
                operation(Operation.Kind.GET, "/" + bucket + "/key", null, 9), "AK",
                new Observation.Absent(), fromNanos, fromNanos + 8));
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
