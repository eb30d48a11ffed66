package io.railhead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Tests skip themselves, and do not fail, where the machine lacks what they need. JUnit runs
 * {@code @AfterEach} after an aborted {@code @BeforeEach}, which then closes what was never opened.
 * A condition, as {@code @RequiresRdmaCore} is, skips both.
 */
class SkippedTestsTest {
    private static final Path ROOT = Path.of("..");
    /** Calls that need rdma-core's libraries and throw without them. */
    private static final Pattern NEEDS_RDMA_CORE = Pattern.compile(
            "\\bFakeMlx5\\.open\\(|\\bnew FakeDevice\\(|\\bnew DcRig\\(|\\bDcRig\\.start\\(|\\bDcMachine\\.open\\(");
    private static final Pattern IS_TEST = Pattern
            .compile("@(Test|ParameterizedTest|BeforeEach)\\b|class \\w+ extends \\w+Contract\\b");
    private static final List<String> CONDITIONS = List.of("@RequiresRdmaCore", "@RequiresVerbs");
    /** Set-up that runs before each test, to the end of its method. */
    private static final Pattern SET_UP = Pattern
            .compile("(?ms)@BeforeEach\\b.*?^ {4}\\}$");
    private static final Pattern ABORT = Pattern
            .compile("(?<!\\.)\\b(?:abort|assumeTrue|assumeFalse|assumeThat)\\(");

    /** Tests that a build leaves out, or runs with fewer operations or kills. */
    private static final Pattern IS_LONG = Pattern
            .compile("@Tag\\(\"long\"\\)|\"railhead\\.(model\\.operations|kills)\"");

    private static Map<Path, String> tests() throws IOException {
        Map<Path, String> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(ROOT)) {
            for (Path file : files.filter(SkippedTestsTest::isTest).toList()) {
                found.put(file, Files.readString(file));
            }
        }
        return found;
    }

    private static boolean isTest(Path file) {
        return file.toString().contains("/src/test/java/") && file.toString().endsWith(".java");
    }

    @Test
    void aSetUpWithATearDownNeverAborts() throws IOException {
        assertThat(tests()).isNotEmpty().allSatisfy((file, source) -> {
            if (source.contains("@AfterEach")) {
                assertThat(SET_UP.matcher(source)
                        .results()
                        .map(MatchResult::group)
                        .filter(setUp -> ABORT.matcher(setUp).find()))
                        .as("%s: use a condition in place of an assumption", file)
                        .isEmpty();
            }
        });
    }

    @Test
    void theNightlyBuildRunsEachLongTest() throws IOException {
        String pom = Files.readString(ROOT.resolve("pom.xml"));
        String nightly = pom.substring(pom.indexOf("<id>nightly</id>"));
        List<String> named = Pattern.compile("\\w+(Test|IT)\\b")
                .matcher(nightly.substring(0, nightly.indexOf("<build>")))
                .results()
                .map(MatchResult::group)
                .toList();
        assertThat(tests()).anySatisfy((_, source) -> assertThat(source).containsPattern(IS_LONG))
                .allSatisfy((file, source) -> {
                    if (!file.endsWith("SkippedTestsTest.java")
                            && IS_LONG.matcher(source).find()) {
                        String name = file.getFileName().toString().replace(".java", "");
                        assertThat(named).as("<it.test> and <test> of nightly").contains(name);
                    }
                });
    }

    @Test
    void whatNeedsRdmaCoreIsUnderACondition() throws IOException {
        assertThat(tests()).allSatisfy((file, source) -> {
            if (NEEDS_RDMA_CORE.matcher(source).find() && IS_TEST.matcher(source).find()) {
                assertThat(CONDITIONS).as(file.toString()).anyMatch(source::contains);
            }
        });
    }
}
