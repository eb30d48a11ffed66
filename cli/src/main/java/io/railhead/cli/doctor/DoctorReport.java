package io.railhead.cli.doctor;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.railhead.cli.doctor.Finding.Mark;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Help.Ansi;

/** Findings as text for people, or as JSON for programs. */
record DoctorReport(List<Finding> findings) {
    private static final ObjectMapper JSON = new ObjectMapper();

    DoctorReport {
        findings = List.copyOf(findings);
    }

    long count(Mark mark) {
        return findings.stream().filter(finding -> finding.mark() == mark).count();
    }

    boolean isFine() {
        return count(Mark.FAIL) == 0;
    }

    void print(PrintWriter out, Ansi ansi) {
        int width = findings.stream()
                .mapToInt(finding -> finding.subject().length())
                .max()
                .orElse(0);
        String indent = " ".repeat(width + 8);
        for (Finding finding : findings) {
            out.println(mark(finding.mark(), ansi) + "  "
                    + String.format(Locale.ROOT, "%-" + width + "s  ", finding.subject())
                    + finding.found());
            if (finding.mark() != Mark.OK) {
                out.println(indent + "why:  " + finding.why());
                out.println(indent + "mend: " + finding.mend());
            }
        }
        out.println();
        out.println(isFine() && count(Mark.WARN) == 0
                ? "Nothing to mend."
                : count(Mark.FAIL) + " to mend, " + count(Mark.WARN) + " to look at.");
        out.flush();
    }

    private static String mark(Mark mark, Ansi ansi) {
        String word = String.format(Locale.ROOT, "%-4s", mark.name().toLowerCase(Locale.ROOT));
        String colour = switch (mark) {
            case OK -> "green";
            case WARN -> "yellow";
            case FAIL -> "red";
        };
        return ansi.string("@|" + colour + " " + word + "|@");
    }

    /**
     * Returns one object with the result and each complete finding. Its fields are in
     * docs/operations.md.
     */
    String toJson() {
        ObjectNode report = JSON.createObjectNode()
                .put("version", 1)
                .put("fine", isFine())
                .put("failed", count(Mark.FAIL))
                .put("warned", count(Mark.WARN));
        ArrayNode array = report.putArray("findings");
        for (Finding finding : findings) {
            array.addObject()
                    .put("mark", finding.mark().name().toLowerCase(Locale.ROOT))
                    .put("subject", finding.subject())
                    .put("found", finding.found())
                    .put("why", finding.why())
                    .put("mend", finding.mend());
        }
        return report.toPrettyString();
    }
}
