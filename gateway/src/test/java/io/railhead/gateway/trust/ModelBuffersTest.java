package io.railhead.gateway.trust;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.trust.Operation.Kind;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whether what the random histories' clients find in their buffers is judged rightly. */
class ModelBuffersTest {
    private static final int WINDOW = 400;
    private static final int FIRST = 105;
    private static final Content OBJECT = Content.create(1, 320);
    private static final Operation PART = new Operation(0, Kind.GET_BY_TOKEN, 0, "/b/key", FIRST,
            100, null, 0, "", WINDOW);

    private final ReferenceStore store = new ReferenceStore(System::nanoTime);
    private final ModelBuffers buffers = new ModelBuffers(store);
    private final byte[] buffer = new byte[WINDOW];

    @BeforeEach
    void start() {
        store.putBehind(PART.path(), OBJECT, 1);
        store.putBehind("/b/another", Content.create(2, 320), 2);
        Arrays.fill(buffer, ModelPeers.MARK);
    }

    private @Nullable Observation afterAFailure(byte[] moved) {
        System.arraycopy(moved, 0, buffer, 0, moved.length);
        return buffers.unmoved(PART, buffer, true);
    }

    @Test
    void whatWasAskedForMayStandThere() {
        assertThat(afterAFailure(OBJECT.bytes(FIRST, FIRST + 55))).isNull();
    }

    /** A relay's pieces begin with the part, and its blocks do not. */
    @Test
    void alsoWhereAPieceEndsInABlock() {
        assertThat(afterAFailure(OBJECT.bytes(FIRST, FIRST + 48))).isNull();
    }

    @Test
    void orWhatAStoreGivesThatKnowsNoRanges() {
        assertThat(afterAFailure(OBJECT.bytes())).isNull();
    }

    @Test
    void noOtherPartOfIt() {
        assertThat(afterAFailure(OBJECT.bytes(FIRST + 1, FIRST + 55)))
                .isInstanceOf(Observation.Wrong.class);
    }

    @Test
    void noOtherObject() {
        assertThat(afterAFailure(Content.create(2, 320).bytes()))
                .isInstanceOf(Observation.Wrong.class);
    }

    @Test
    void whoGotNoAnswerHasNothingElseEither() {
        assertThat(buffers.unanswered(PART, buffer)).isEqualTo(new Observation.Failed("no answer"));
        System.arraycopy(OBJECT.bytes(FIRST, FIRST + 55), 0, buffer, 0, 55);
        assertThat(buffers.unanswered(PART, buffer))
                .isEqualTo(new Observation.Failed("no answer", true));
        buffer[3]++;
        assertThat(buffers.unanswered(PART, buffer)).isInstanceOf(Observation.Wrong.class);
    }

    @Test
    void nothingWhereNothingHasBegun() {
        System.arraycopy(OBJECT.bytes(FIRST, FIRST + 55), 0, buffer, 0, 55);
        assertThat(buffers.unmoved(PART, buffer, false)).isInstanceOf(Observation.Wrong.class);
    }
}
