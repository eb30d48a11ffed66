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
    void aReportSaysWhatAnAssumptionNeeds() {
        assertThat(SkippedTests.reasonsIn(
                """
                        <testcase name="a"><skipped type="org.opentest4j.TestAbortedException"><![CDATA[org.opentest4j.TestAbortedException: no [x] here
                        \tat org.example.Test.a(Test.java:1)
                        ]]></skipped></testcase>
                        <testcase name="b"><skipped type="org.opentest4j.TestAbortedException"><![CDATA[org.opentest4j.TestAbortedException: no [x] here]]></skipped></testcase>
                        """))
                .isEqualTo(Map.of("no [x] here", 2));
    }

    @Test
    void eachReasonIsALine() {
        assertThat(SkippedTests.told(Map.of("Assumption failed: no minio", 3)).lines())
                .contains("     3 no minio");
        assertThat(SkippedTests.told(Map.of())).isEmpty();
    }
}
