package io.railhead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The house style of comments, held over the sources of the product. */
class CommentsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern COMMENT = Pattern
            .compile("(?m)^\\s*/\\*\\*\\s*(?:\\*\\s*)?(\\w+)");
    private static final Pattern PRONOUN = Pattern
            .compile("What|Who|How|Whether|Where|That|Which|When|Whose|Whoever|Whatever|It|Why");

    @Test
    void theyOpenWithANounOrAVerb() throws IOException {
        List<String> seen = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        for (Path file : sources()) {
            Matcher comment = COMMENT.matcher(Files.readString(file));
            while (comment.find()) {
                seen.add(comment.group(1));
                if (PRONOUN.matcher(comment.group(1)).matches()) {
                    wrong.add(ROOT.relativize(file) + ": " + comment.group(1));
                }
            }
        }
        assertThat(seen).hasSizeGreaterThan(3000);
        assertThat(wrong).isEmpty();
    }

    private static List<Path> sources() throws IOException {
        try (Stream<Path> all = Files.walk(ROOT)) {
            return all.filter(file -> file.toString().contains("/src/main/java/io/railhead/"))
                    .filter(file -> file.toString().endsWith(".java"))
                    .toList();
        }
    }
}
