package io.railhead.cli.local;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** A child process that answers each line of JSON with one. One thread. */
public final class JsonLineProcess {
    private final String name;
    private final Children children;
    private final BufferedWriter questions;
    private final BufferedReader answers;

    /**
     * @param process whose output is piped
     * @param name its log's, which is where it says why it ended
     */
    public JsonLineProcess(Process process, String name, Children children) {
        this.name = name;
        this.children = children;
        this.questions = process.outputWriter(StandardCharsets.UTF_8);
        this.answers = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Waits for the next answer. */
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
