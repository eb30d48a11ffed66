package io.railhead.backend.aws;

import io.railhead.backend.Capabilities;
import io.railhead.backend.testing.BackendContract;

/** What MinIO does and does not do, however it was started. */
abstract class MinioContract extends BackendContract {

    @Override
    protected Capabilities capabilities() {
        return new Capabilities(true, true, true, true, true);
    }

    /** It refuses {@code .} and {@code ..} and folds {@code //}, as its objects are files. */
    @Override
    protected boolean takesKeysWithOddSegments() {
        return false;
    }

    /** It answers MissingContentLength. */
    @Override
    protected boolean takesBodiesWithoutLength() {
        return false;
    }
}
