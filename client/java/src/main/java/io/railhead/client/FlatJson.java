package io.railhead.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the gateway's own small responses: a JSON object of strings, numbers, literals, lists of
 * them, and objects. A field of an inner object has the outer field's name before its own, as in
 * {@code placement.run}. Objects within lists are read and passed over. Deeper nesting is refused,
 * since no such response has it.
 */
final class FlatJson {
    private static final int MOST_LEVELS = 3;

    private final String text;
    private final Map<String, List<String>> fields = new LinkedHashMap<>();
    private int at;

    private FlatJson(String text) {
        this.text = text;
    }

    /**
     * Returns values by field name, a single one if the field is no list; strings are unescaped,
     * other values are as written.
     */
    static Map<String, List<String>> parse(String text) throws IOException {
        FlatJson json = new FlatJson(text);
        json.object("", 1);
        if (json.peek() != 0) {
            throw json.bad("something after the object");
        }
        return json.fields;
    }

    /** @param within the names of the outer fields, each with a dot behind it */
    private void object(String within, int level) throws IOException {
        if (level > MOST_LEVELS) {
            throw bad("too many levels");
        }
        expect('{');
        if (peek() == '}') {
            at++;
            return;
        }
        do {
            String name = within + string();
            expect(':');
            switch (peek()) {
                case '{' -> object(name + ".", level + 1);
                case '[' -> fields.put(name, list(level));
                default -> fields.put(name, List.of(value()));
            }
        } while (separator('}'));
    }

    private List<String> list(int level) throws IOException {
        expect('[');
        List<String> values = new ArrayList<>();
        if (peek() == ']') {
            at++;
            return values;
        }
        do {
            if (peek() == '{') {
                passOver(level + 1);
            } else {
                values.add(value());
            }
        } while (separator(']'));
        return values;
    }

    private void passOver(int level) throws IOException {
        FlatJson element = new FlatJson(text);
        element.at = at;
        element.object("", level);
        at = element.at;
    }

    private String value() throws IOException {
        return peek() == '"' ? string() : literal();
    }

    private boolean separator(char end) throws IOException {
        char c = peek();
        at++;
        if (c != ',' && c != end) {
            throw bad("no , or " + end);
        }
        return c == ',';
    }

    private String string() throws IOException {
        expect('"');
        StringBuilder out = new StringBuilder();
        for (char c = next(); c != '"'; c = next()) {
            out.append(c == '\\' ? escaped() : c);
        }
        return out.toString();
    }

    private char escaped() throws IOException {
        char c = next();
        return switch (c) {
            case 'n' -> '\n';
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'b' -> '\b';
            case 'f' -> '\f';
            case '"', '\\', '/' -> c;
            case 'u' -> unicode();
            default -> throw bad("unknown escape");
        };
    }

    private char unicode() throws IOException {
        int code = 0;
        for (int i = 0; i < 4; i++) {
            int digit = Character.digit(next(), 16);
            if (digit < 0) {
                throw bad("bad \\u escape");
            }
            code = code << 4 | digit;
        }
        return (char) code;
    }

    private String literal() throws IOException {
        int start = at;
        while (at < text.length() && ",}] \t\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String literal = text.substring(start, at);
        if (!literal.matches("-?[0-9][0-9.eE+-]*|true|false|null")) {
            throw bad("not a plain value");
        }
        return literal;
    }

    /** Returns the next character that is not blank, without consuming it; 0 at the end. */
    private char peek() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return at < text.length() ? text.charAt(at) : 0;
    }

    private char next() throws IOException {
        if (at == text.length()) {
            throw bad("it ends too early");
        }
        return text.charAt(at++);
    }

    private void expect(char c) throws IOException {
        if (peek() != c) {
            throw bad("no " + c);
        }
        at++;
    }

    private IOException bad(String why) {
        return new PermanentException("the gateway's JSON cannot be read at " + at + ": " + why);
    }
}
