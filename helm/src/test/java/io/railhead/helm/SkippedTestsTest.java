package io.railhead.helm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SkippedTestsTest {
    @Test
    void aReportSaysWhatItsTestsNeed() {
        assertThat(SkippedTests.reasonsIn("""
                <testcase name="a"><skipped message="needs &lt;b&gt;"/></testcase>
                <testcase name="b"/>
                <testcase name="c"><skipped message="needs &lt;b&gt;" type=""/></testcase>
                """)).isEqualTo(Map.of("needs <b>", 2));
    }

    @Test
    void eachReasonIsALine() {
        assertThat(SkippedTests.told(Map.of("Assumption failed: no minio", 3)).lines())
                .contains("     3 no minio");
        assertThat(SkippedTests.told(Map.of())).isEmpty();
    }
}
