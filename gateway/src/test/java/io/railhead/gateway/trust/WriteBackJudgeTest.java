package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.trust.Observation.Way;
import io.railhead.gateway.trust.Operation.Kind;
import io.railhead.gateway.trust.WriteBackJudge.Sight;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests of what the judge of pending writes accepts. */
class WriteBackJudgeTest {
    private static final Content FIRST = Content.create(1, 100);
    private static final Content SECOND = Content.create(2, 200);
    private static final String WAITED = "503 " + WriteBackJudge.WAITED;

    private long nanos;
    private final ReferenceStore store = new ReferenceStore(() -> nanos);
    private final WriteBackJudge judge = new WriteBackJudge(store);

    private static Operation operation(Kind kind, String path, @Nullable Content content,
            long mark) {
        return new Operation(0, kind, 0, path, 0, 0, content, mark, "", 400);
    }

    private @Nullable String put(String path, Content content, long mark, Observation seen,
            long from, long to) {
        return judge.saw(new Sight(operation(Kind.PUT, path, content, mark), seen, from, to));
    }

    private void acknowledged(String path, Content content, long mark, long from, long to) {
        assertThat(put(path, content, mark, new Observation.Written("disk"), from, to)).isNull();
    }

    private void read(String path, Content content, long mark, long from, long to) {
        assertThat(judge.saw(new Sight(operation(Kind.GET, path, null, 0),
                new Observation.Read(content.etag(), mark, content.sizeBytes(), 0, content.bytes(),
                        Way.IN_A_BODY),
                from, to))).isNull();
    }

    private void stored(String path, Content content, long mark, long atNanos) {
        nanos = atNanos;
        store.putBehind(path, content, mark);
    }

    @Test
    void aWriteMayReachTheStoreAfterItsAnswerAndBeReadBefore() {
        acknowledged("/b/a", FIRST, 1, 10, 20);
        read("/b/a", FIRST, 1, 30, 40);
        stored("/b/a", FIRST, 1, 50);
        assertThat(judge.settled()).isEmpty();
        assertThat(judge.atDisk()).isEqualTo(1);
        assertThat(judge.readsOfPending()).isEqualTo(1);
    }

    @Test
    void aWriteThatNeverReachesTheStoreIsLost() {
        acknowledged("/b/a", FIRST, 1, 10, 20);
        assertThat(judge.settled()).singleElement().asString().contains("never at the store");
    }

    @Test
    void theLevelMustBeToldAndBeTrue() {
        assertThat(put("/b/a", FIRST, 1, new Observation.Written(), 10, 20)).contains("no level");
        assertThat(put("/b/a", FIRST, 1, new Observation.Written("store"), 10, 20))
                .contains("does not have it");
        stored("/b/a", FIRST, 1, 15);
        assertThat(put("/b/a", FIRST, 1, new Observation.Written("store"), 10, 20)).isNull();
    }

    @Test
    void nobodySeesWhatWasBeforeAnAnsweredWrite() {
        stored("/b/a", FIRST, 1, 5);
        acknowledged("/b/a", SECOND, 2, 10, 20);
        read("/b/a", FIRST, 1, 30, 40);
        stored("/b/a", SECOND, 2, 50);
        assertThat(judge.settled()).singleElement().asString().contains("was known before");
    }

    @Test
    void norAListOrAnAnswerThatThereIsNothing() {
        acknowledged("/b/a", FIRST, 1, 10, 20);
        judge.saw(new Sight(operation(Kind.LIST, "/b/x", null, 0),
                new Observation.Listed(Map.of()), 30, 40));
        judge.saw(new Sight(operation(Kind.GET, "/b/a", null, 0), new Observation.Absent(), 30,
                40));
        stored("/b/a", FIRST, 1, 50);
        assertThat(judge.settled()).hasSize(2);
    }

    @Test
    void norGoesBackBehindWhatSomebodyHasRead() {
        stored("/b/a", FIRST, 1, 5);
        put("/b/a", SECOND, 2, new Observation.Failed("no answer"), 10, 60);
        read("/b/a", SECOND, 2, 20, 30);
        read("/b/a", FIRST, 1, 40, 50);
        stored("/b/a", SECOND, 2, 70);
        assertThat(judge.settled()).singleElement().asString().contains("was known before");
    }

    @Test
    void aRefusedWriteIsNeverDone() {
        put("/b/a", FIRST, 1, new Observation.Failed(WAITED), 10, 20);
        stored("/b/a", FIRST, 1, 50);
        assertThat(judge.settled()).singleElement().asString().contains("refused, and done");
    }

    @Test
    void theStoreHasABucketsWritesInTheOrderOfTheirAnswers() {
        acknowledged("/b/a", FIRST, 1, 10, 20);
        acknowledged("/b/c", SECOND, 2, 30, 40);
        acknowledged("/other/a", FIRST, 3, 50, 60);
        stored("/other/a", FIRST, 3, 70);
        stored("/b/c", SECOND, 2, 80);
        stored("/b/a", FIRST, 1, 90);
        assertThat(judge.settled()).singleElement().asString().contains("before it");
    }

    @Test
    void aVersionThatComesAgainMustNotStay() {
        acknowledged("/b/a", FIRST, 1, 10, 20);
        acknowledged("/b/a", SECOND, 2, 30, 40);
        stored("/b/a", FIRST, 1, 50);
        stored("/b/a", FIRST, 1, 51);
        stored("/b/a", SECOND, 2, 52);
        assertThat(judge.settled()).isEmpty();
        stored("/b/a", FIRST, 1, 53);
        List<String> wrong = judge.settled();
        assertThat(wrong).singleElement().asString().contains("an older version");
    }

    @Test
    void whatWasAnsweredBeforeAnotherBeganIsNotDoneAfterIt() {
        acknowledged("/b/a", FIRST, 1, 10, 20);
        acknowledged("/b/a", SECOND, 2, 30, 40);
        stored("/b/a", SECOND, 2, 50);
        stored("/b/a", FIRST, 1, 60);
        assertThat(judge.settled())
                .anySatisfy(wrong -> assertThat(wrong).contains("the store did"));
    }

    @Test
    void aWriteWithoutAnAnswerMayBeDoneLate() {
        put("/b/a", FIRST, 1, new Observation.Failed("no answer"), 10, 20);
        acknowledged("/b/a", SECOND, 2, 30, 40);
        stored("/b/a", SECOND, 2, 50);
        stored("/b/a", FIRST, 1, 60);
        assertThat(judge.settled()).isEmpty();
    }

    @Test
    void aCopyIsOfWhatWasAnsweredBeforeIt() {
        stored("/b/a", FIRST, 1, 5);
        acknowledged("/b/a", SECOND, 2, 10, 20);
        stored("/other/a", FIRST, 3, 35);
        Operation copy = new Operation(0, Kind.COPY, 0, "/other/a", 0, 0, null, 3, "/b/a", 400);
        assertThat(judge.saw(new Sight(copy, new Observation.Written("store"), 30, 40))).isNull();
        stored("/b/a", SECOND, 2, 50);
        assertThat(judge.settled()).singleElement().asString().contains("what was before");
    }
}
