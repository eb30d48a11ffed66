package io.railhead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/**
 * What the pages tell a reader to type can be typed: commands and their options, scripts, files,
 * test classes, profiles, links. Whether it then does what the page says, no test here knows.
 */
class DocumentationTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern FENCE = Pattern.compile("(?ms)^```[^\n]*\n(.*?)^```");
    private static final Pattern SPAN = Pattern.compile("`([^`]+)`");
    private static final Pattern COMMENT = Pattern.compile("(?m)\\s+#\\s.*$|^#.*$");
    private static final Pattern RAILHEAD = Pattern
            .compile("(?:^|(?<!-m)[ /])railhead ([a-z][^;|>]*)$");
    private static final Pattern SCRIPT = Pattern
            .compile("(?:^| )((?:deploy|\\.ci)/[\\w./-]+)((?: (?!-- )\\S+)*)");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)|src=\"([^\"]+)\"");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
    private static final Pattern TEST_CLASS = Pattern.compile("-D(?:it\\.)?test='?(\\w+)");
    private static final Pattern PROFILE = Pattern.compile("mvn .*-P(\\w+)");
    private static final Pattern MODULES = Pattern.compile("-pl ([\\w,/-]+)");

    /**
     * @param typed lines of its blocks, continued ones as one, without comments
     * @param named what stands in its sentences as code
     */
    private record Page(Path file, String text, List<String> typed, List<String> named) {

        static Page read(Path file) throws IOException {
            String text = Files.readString(file);
            List<String> typed = FENCE.matcher(text)
                    .results()
                    .map(block -> block.group(1).replace("\\\n", " "))
                    .flatMap(block -> COMMENT.matcher(block).replaceAll("").lines())
                    .map(line -> line.strip().replaceAll("\\s+", " "))
                    .filter(line -> !line.isEmpty())
                    .toList();
            List<String> named = SPAN.matcher(FENCE.matcher(text).replaceAll(""))
                    .results()
                    .map(span -> span.group(1).replaceAll("\\s+", " "))
                    .toList();
            return new Page(file, text, typed, named);
        }

        Stream<String> code() {
            return Stream.concat(typed.stream(), named.stream());
        }
    }

    private static List<Page> pages;

    @BeforeAll
    static void read() throws IOException {
        pages = new ArrayList<>();
        for (Path file : files().filter(file -> file.toString().endsWith(".md")).toList()) {
            pages.add(Page.read(file));
        }
        assertThat(pages).hasSizeGreaterThan(12);
    }

    /** Of the sources: nothing that was built, nor the tests' golden files. */
    private static Stream<Path> files() throws IOException {
        try (Stream<Path> all = Files.walk(ROOT)) {
            return all.filter(Files::isRegularFile)
                    .filter(file -> Stream.of(".git", "target", "node_modules")
                            .noneMatch(part -> (file + "/").contains("/" + part + "/")))
                    .toList()
                    .stream();
        }
    }

    @Test
    void linesOfRailheadAreUnderstood() {
        List<String> lines = pages.stream()
                .flatMap(page -> page.typed().stream())
                .flatMap(DocumentationTest::ofRailhead)
                .toList();
        assertThat(lines).hasSizeGreaterThan(15).allSatisfy(line -> {
            try {
                Main.commandLine().parseArgs(line.split(" ", -1));
            } catch (ParameterException e) {
                throw new AssertionError("railhead " + line + ": " + e.getMessage(), e);
            }
        });
    }

    /** In sentences an argument may be missing. */
    @Test
    void commandsInSentencesHaveTheirOptions() {
        List<String> commands = pages.stream()
                .flatMap(page -> page.named().stream())
                .flatMap(DocumentationTest::ofRailhead)
                .toList();
        assertThat(commands).hasSizeGreaterThan(10).allSatisfy(command -> {
            CommandLine line = Main.commandLine();
            for (String word : command.split(" ", -1)) {
                CommandLine sub = line.getSubcommands().get(word);
                if (sub != null) {
                    line = sub;
                } else if (word.startsWith("-") && word.length() > 1) {
                    assertThat(line.getCommandSpec().optionsMap()).containsKey(word);
                } else {
                    assertThat(line.getSubcommands()).as(command).isEmpty();
                }
            }
        });
    }

    private static Stream<String> ofRailhead(String code) {
        return RAILHEAD.matcher(code).results().map(found -> found.group(1).strip());
    }

    @Test
    void filesAreWhereTheySay() throws IOException {
        Set<String> folders;
        try (Stream<Path> top = Files.list(ROOT)) {
            folders = top.filter(Files::isDirectory)
                    .map(folder -> folder.getFileName().toString())
                    .filter(name -> !name.equals("target"))
                    .collect(Collectors.toSet());
        }
        Set<String> missing = new TreeSet<>();
        for (Page page : pages) {
            page.code()
                    .flatMap(code -> Stream.of(code.split(" ", -1)))
                    .filter(word -> word.matches("[\\w.-]+/[\\w./-]+"))
                    .filter(word -> folders.contains(word.substring(0, word.indexOf('/'))))
                    .filter(word -> !word.contains("/target/"))
                    .filter(word -> !Files.exists(ROOT.resolve(word)))
                    .forEach(missing::add);
        }
        assertThat(missing).isEmpty();
    }

    @Test
    void scriptsKnowTheOptionsThatTheyAreGiven() {
        assertThat(code().flatMap(line -> SCRIPT.matcher(line).results()).toList())
                .hasSizeGreaterThan(10)
                .filteredOn(found -> Files.isExecutable(ROOT.resolve(found.group(1)))
                        && Files.isRegularFile(ROOT.resolve(found.group(1))))
                .allSatisfy(found -> {
                    String script = Files.readString(ROOT.resolve(found.group(1)));
                    Stream.of(found.group(2).split("\\s+", -1))
                            .filter(word -> word.startsWith("--"))
                            .forEach(option -> assertThat(script).as(found.group())
                                    .contains(option));
                });
    }

    @Test
    void whatMavenIsToldIsThere() throws IOException {
        Set<String> classes = files().map(file -> file.getFileName().toString())
                .filter(name -> name.endsWith(".java"))
                .collect(Collectors.toSet());
        String poms = files().filter(file -> file.endsWith("pom.xml"))
                .map(DocumentationTest::text)
                .collect(Collectors.joining());
        assertThat(groups(TEST_CLASS)).contains("PageMemoryTest")
                .allMatch(name -> name.equals("None") || classes.contains(name + ".java"));
        assertThat(groups(PROFILE)).contains("image")
                .allMatch(name -> poms.contains("<id>" + name));
        assertThat(groups(MODULES).stream().flatMap(list -> Stream.of(list.split(",", -1))))
                .contains("cli")
                .allMatch(name -> Files.exists(ROOT.resolve(name).resolve("pom.xml")));
    }

    private static Stream<String> code() {
        return pages.stream().flatMap(Page::code);
    }

    private static Set<String> groups(Pattern pattern) {
        return code().flatMap(line -> pattern.matcher(line).results())
                .map(found -> found.group(1))
                .collect(Collectors.toSet());
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void linksLeadSomewhere() {
        assertThat(pages).allSatisfy(page -> assertThat(LINK.matcher(page.text())
                .results()
                .map(DocumentationTest::target)
                .filter(link -> !link.startsWith("http"))
                .filter(link -> !leads(page, link))).as(page.file().toString()).isEmpty());
    }

    private static String target(MatchResult found) {
        return found.group(1) == null ? found.group(2) : found.group(1);
    }

    private static boolean leads(Page page, String link) {
        String[] parts = link.split("#", 2);
        Path file = parts[0].isEmpty() ? page.file() : page.file().resolveSibling(parts[0]);
        return Files.exists(file) && (parts.length == 1
                || HEADING.matcher(text(file))
                        .results()
                        .anyMatch(heading -> anchor(heading.group(1)).equals(parts[1])));
    }

    /** A stranger reads the README in five minutes; so must it stay. */
    @Test
    void thePagesThatAreReadFirstAreShort() {
        Map<String, Integer> limits = Map.of("README.md", 230, "ARCHITECTURE.md", 200,
                "docs/performance.md", 150, "docs/reliability.md", 150);
        limits.forEach(
                (name, lines) -> assertThat(text(ROOT.resolve(name)).lines().count()).as(name)
                        .isLessThanOrEqualTo(lines));
    }

    /** As GitHub makes it. */
    private static String anchor(String heading) {
        return heading.toLowerCase(Locale.ROOT).replaceAll("[^\\w\\- ]", "").replace(' ', '-');
    }

    /** The page shows files that are there to be used. */
    @Test
    void theShownFilesAreTheSamples() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/getting-started.md"));
        for (String name : List.of("railhead.yaml", "credentials.yaml")) {
            String sample = Files.readString(ROOT.resolve("deploy/sample").resolve(name));
            assertThat(page).contains("```yaml\n# " + name + "\n" + sample + "```");
        }
    }
}
