package io.railhead.cli.local;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** A child process that answers each line of JSON by one line. One thread. */
public final class JsonLineProcess {
    private final String name;
    private final Children children;
    private final BufferedWriter questions;
    private final BufferedReader answers;

    /**
     * @param process a process with piped output
     * @param name the name of its log, which explains its end
     */
    public JsonLineProcess(Process process, String name, Children children) {
        this.name = name;
        this.children = children;
        this.questions = process.outputWriter(StandardCharsets.UTF_8);
        this.answers = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Waits for the next line. */
    public <T> T next(Class<T> type) throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new IOException("the %s ended: %s".formatted(name, children.lastWords(name)));
        }
        return Json.read(line, type);
    }

    public <T> T ask(Object question, Class<T> type) throws IOException {
        questions.write(Json.line(question));
        questions.newLine();
        questions.flush();
        return next(type);
    }
}
