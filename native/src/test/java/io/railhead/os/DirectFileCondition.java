package io.railhead.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Disables tests where temporary files cannot be opened with O_DIRECT. */
final class DirectFileCondition implements ExecutionCondition {

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        try {
            Path probe = Files.createTempFile("direct", "");
            try {
                DirectFile.open(probe.toString(), 4096).close();
                return ConditionEvaluationResult.enabled("files can be read directly");
            } finally {
                Files.delete(probe);
            }
        } catch (OsException e) {
            if (!DirectFile.isRefusedDirect(e)) {
                throw e;
            }
            return ConditionEvaluationResult
                    .disabled("the file system of temporary files refuses O_DIRECT");
        } catch (IOException e) {
            throw new IllegalStateException("no temporary file can be made", e);
        }
    }
}
