package io.railhead.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cli.doctor.Finding.Mark;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class PartsTest {

    @Test
    void whoWatchesIsToldWhatIsWaitedFor() {
        StringWriter err = new StringWriter();
        Parts parts = new Parts(new PrintWriter(err, true), true);
        ParallelCheck slow = new ParallelCheck("the far store", () -> {
            for (int i = 0; i < 3000 && !err.toString().contains("waiting for"); i++) {
                LockSupport.parkNanos(10_000_000);
            }
            return List.of(Finding.ok("slow", "done", "why"));
        });
        ParallelCheck broken = new ParallelCheck("broken", () -> {
            throw new IllegalStateException("defect");
        });
        List<Finding> findings = parts.lookAt(List.of(slow, broken));
        assertThat(err.toString()).contains("\rwaiting for the far store").endsWith("\r");
        assertThat(findings).extracting(Finding::subject).containsExactly("slow", "broken");
        assertThat(findings.getLast().mark()).isEqualTo(Mark.FAIL);
    }

    @Test
    void aPartThatFailsOnceIsAskedAgainBeforeItIsToldAsFailed() {
        AtomicInteger looks = new AtomicInteger();
        ParallelCheck late = new ParallelCheck("late", () -> List.of(looks.incrementAndGet() == 1
                ? Finding.fail("store/http", "no answer in time", "why", "mend")
                : Finding.ok("store/http", "answers", "why")));
        ParallelCheck good = new ParallelCheck("good",
                () -> List.of(Finding.ok("good", "done", "why")));
        assertThat(quiet().lookAt(List.of(good, late, good))).extracting(Finding::found)
                .containsExactly("done", "answers", "done");
    }

    @Test
    void aPartThatFailsTwiceIsToldOnceWithItsLastAnswer() {
        AtomicInteger looks = new AtomicInteger();
        ParallelCheck down = new ParallelCheck("down", () -> List.of(Finding.fail("store/tcp",
                "refused " + looks.incrementAndGet(), "why", "mend")));
        assertThat(quiet().lookAt(List.of(down))).extracting(Finding::found)
                .containsExactly("refused 2");
    }

    private static Parts quiet() {
        return new Parts(new PrintWriter(new StringWriter()), false);
    }
}
