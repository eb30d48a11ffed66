package io.railhead.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages' examples of this library compile. */
class ReadmeTest {
    private static final Pattern EXAMPLE = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/node-clients.md", "docs/kv-cache.md"})
    void theExampleCompiles(String page) throws IOException {
        Matcher example = EXAMPLE.matcher(Files.readString(Path.of("../..", page)));
        assertThat(example.find()).isTrue();

        StringWriter said = new StringWriter();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        boolean compiled = compiler.getTask(said, null, null,
                List.of("-proc:none", "-d", folder.toString(), "-cp",
                        System.getProperty("java.class.path")),
                null, List.of(source(example.group(1)))).call();

        assertThat(compiled).as(said.toString()).isTrue();
    }

    private static JavaFileObject source(String statements) {
        String text = """
                import io.railhead.client.*;
                import io.railhead.client.kv.*;
                import java.time.Duration;
                import java.util.List;
                import java.util.concurrent.CompletionStage;

                class Example {
                    void run() throws Exception {
                        %s
                    }
                }
                """.formatted(statements);
        return new SimpleJavaFileObject(URI.create("string:///Example.java"),
                JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        };
    }
}
