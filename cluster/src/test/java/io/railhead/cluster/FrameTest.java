package io.railhead.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FrameTest {

    @Test
    void eachFrameComesBackAsItWas() {
        for (Frame frame : new Frame[]{new Frame.Applied("v", 7), new Frame.Question("v", -3),
                new Frame.Answer("v", 5, 9), new Frame.Introduction(Map.of("cache.page", "1MiB")),
                new Frame.Farewell()}) {
            assertThat(Frame.of(frame.bytes())).isEqualTo(frame);
        }
        Frame.Change change = (Frame.Change) Frame
                .of(new Frame.Change("v", 3, new byte[]{1, 2}).bytes());
        assertThat(change.view()).isEqualTo("v");
        assertThat(change.number()).isEqualTo(3);
        assertThat(change.payload()).containsExactly(1, 2);
    }

    @Test
    void anotherVersionIsRefused() {
        byte[] bytes = new Frame.Farewell().bytes();
        bytes[0]++;
        assertThatIllegalArgumentException().isThrownBy(() -> Frame.of(bytes))
                .withMessage("a frame of version 2");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void anyBytesAreAFrameOrAreRefused(long seed) {
        Random random = new Random(seed);
        byte[] whole = new Frame.Change("view", 1, new byte[100]).bytes();
        for (int i = 0; i < 10_000; i++) {
            byte[] bytes = Arrays.copyOf(whole, random.nextInt(whole.length + 1));
            for (int j = random.nextInt(4); j > 0 && bytes.length > 0; j--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            try {
                assertThat(Frame.of(bytes)).isNotNull();
            } catch (IllegalArgumentException e) {
                assertThat(e.getMessage()).as("seed " + seed).isNotBlank();
            }
        }
    }
}
