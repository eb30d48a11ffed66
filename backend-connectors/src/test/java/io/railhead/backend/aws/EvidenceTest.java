package io.railhead.backend.aws;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.backend.Target;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** When the failures of objects speak against the endpoint that they were asked for at. */
class EvidenceTest {
    private final Evidence evidence = new Evidence(3);

    @Test
    void oneObjectIsNoEvidenceHoweverOftenItFails() {
        for (int i = 0; i < 1_000; i++) {
            evidence.failed(object("bad"), i);
        }
        assertThat(evidence.isEnough()).isFalse();
    }

    @Test
    void manyReadingsOfOneObjectAreOneObject() {
        for (int i = 0; i < 10; i++) {
            evidence.failed(new Target("bucket", "bad", "partNumber=" + i), i);
        }
        assertThat(evidence.isEnough()).isFalse();
    }

    @Test
    void mostOfSeveralObjectsAre() {
        evidence.failed(object("a"), 0);
        evidence.failed(object("b"), 1);
        assertThat(evidence.isEnough()).isFalse();
        evidence.failed(object("c"), 2);
        assertThat(evidence.isEnough()).isTrue();
    }

    @Test
    void asManyThatAnsweredOutweighThem() {
        evidence.failed(object("a"), 0);
        for (int i = 0; i < 3; i++) {
            evidence.answered(object("good " + i), i);
        }
        evidence.failed(object("b"), 4);
        evidence.failed(object("c"), 5);
        assertThat(evidence.isEnough()).isFalse();
        evidence.failed(object("d"), 6);
        assertThat(evidence.isEnough()).isTrue();
    }

    @Test
    void anObjectThatAnswersAgainIsNoEvidence() {
        evidence.failed(object("a"), 0);
        evidence.failed(object("b"), 1);
        evidence.answered(object("a"), 2);
        evidence.failed(object("c"), 3);
        assertThat(evidence.isEnough()).isFalse();
    }

    @Test
    void nothingIsKeptWhileNothingFails() {
        evidence.answered(object("a"), 0);
        assertThat(evidence.isEmpty()).isTrue();
        evidence.failed(object("a"), 1);
        evidence.answered(object("a"), 2);
        assertThat(evidence.isEmpty()).isTrue();
    }

    @Test
    void failuresOfLongAgoDoNotAddUp() {
        for (int i = 0; i < 10; i++) {
            evidence.failed(object("k" + i), Duration.ofMinutes(2L * i).toNanos());
        }
        assertThat(evidence.isEnough()).isFalse();
    }

    private static Target object(String key) {
        return new Target("bucket", key, null);
    }
}
