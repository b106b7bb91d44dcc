package org.yunti.hadoop.runner.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.mapreduce.v2.util.MRApps;
import org.junit.jupiter.api.Test;

final class TaskEnvironmentTest {
  private static final File DIRECTORY = new File("/jobs/worker-0");

  private static Map<String, String> variables(Map<String, String> program, String... settings) {
    JobConf conf = new JobConf(false);
    for (String setting : settings) {
      int equals = setting.indexOf('=');
      conf.set(setting.substring(0, equals), setting.substring(equals + 1));
    }
    return new TaskEnvironment(conf, TaskType.MAP, program).in(DIRECTORY);
  }

  @Test
  void values_are_those_of_hadoops_own_code() {
    String[] values = {"A=b", "A=", "A", "A=b,B=c", "A=b,A=c", "A=$HOME:x", "A=$NO_SUCH_VARIABLE:x", "PATH=$PATH:/tmp",
        "LD_LIBRARY_PATH=/x", "LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/x", "A=x$", "A=$1", "A=\\$HOME", " A=b, B=c", "A.b=c,D=e",
        "A=x=y", ",,A=b,", "A=$HOME$HOME"};
    Map<String, String> program = new HashMap<>(System.getenv());
    program.remove("LD_LIBRARY_PATH");
    for (String value : values) {
      check(JobConf.MAPRED_MAP_TASK_ENV, value, program);
      check("mapred.child.env", value, program);
    }
  }

  private static void check(String key, String value, Map<String, String> program) {
    JobConf conf = new JobConf(false);
    conf.set(key, value);
    conf.set(MRJobConfig.MAPRED_ADMIN_USER_ENV, "A=admin");
    Map<String, String> theirs = new HashMap<>();
    theirs.put("LD_LIBRARY_PATH", DIRECTORY.getPath());
    MRApps.setEnvFromInputProperty(theirs, MRJobConfig.MAPRED_ADMIN_USER_ENV, "", conf);
    MRApps.setEnvFromInputProperty(theirs, JobConf.MAPRED_MAP_TASK_ENV, conf.get("mapred.child.env"), conf);
    assertEquals(theirs, variables(program, key + "=" + value, MRJobConfig.MAPRED_ADMIN_USER_ENV + "=A=admin"), value);
  }

  @Test
  void references_in_braces_are_to_variables_of_the_jvm() {
    Map<String, String> program = new HashMap<>();
    program.put("A", "outer");
    program.put("LD_LIBRARY_PATH", "/native");
    Map<String, String> made = variables(program, "mapreduce.map.env=A={{A}}:{{B}},B=x,C={{D}},D={{C}}x,E={{PWD}}/lib",
        "mapreduce.map.env.F=a,b", "mapreduce.admin.user.env=E=/admin,LD_LIBRARY_PATH=/more");
    Map<String, String> want = new HashMap<>();
    want.put("A", "outer:x");
    want.put("B", "x");
    want.put("C", "x");
    want.put("D", "x");
    want.put("E", "/admin:/jobs/worker-0/lib");
    want.put("F", "a,b");
    want.put("LD_LIBRARY_PATH", "/jobs/worker-0:/native:/more");
    assertEquals(want, made);
  }
}
