package org.yunti.web.velocity;

import org.apache.velocity.Template;

/** A template of Velocity that compiles itself when it is loaded. */
final class CompiledTemplate extends Template {}
