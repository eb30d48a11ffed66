package io.railhead.gateway.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.railhead.cache.Change;
import io.railhead.cache.Selection;
import io.railhead.cache.WriteOutcome;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChangeFormatTest {
    private static final List<Change> CHANGES = List.of(
            new Change.OfKey("store", "b", "a/ö 𝄞", null, WriteOutcome.DONE),
            new Change.OfKey("store", "b", "", "version", WriteOutcome.UNKNOWN),
            new Change.OfBucket("store", "b", WriteOutcome.DONE),
            new Change.Eviction(new Selection("b", "", Selection.Kind.PREFIX)),
            new Change.Eviction(new Selection("b", "k".repeat(1024), Selection.Kind.KEY)));

    @Test
    void eachChangeComesBackAsItWas() {
        for (Change change : CHANGES) {
            assertThat(ChangeFormat.change(ChangeFormat.bytes(change))).isEqualTo(change);
        }
    }

    @Test
    void whatIsCutShortIsRefused() {
        for (Change change : CHANGES) {
            byte[] bytes = ChangeFormat.bytes(change);
            for (int length = 0; length < bytes.length; length++) {
                byte[] cut = Arrays.copyOf(bytes, length);
                assertThatIllegalArgumentException().isThrownBy(() -> ChangeFormat.change(cut));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void anyBytesAreAChangeOrAreRefused(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 10_000; i++) {
            byte[] bytes = ChangeFormat.bytes(CHANGES.get(random.nextInt(CHANGES.size())));
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            try {
                assertThat(ChangeFormat.change(bytes)).isNotNull();
            } catch (IllegalArgumentException e) {
                assertThat(e.getMessage()).as("seed " + seed).isNotBlank();
            }
        }
    }
}
