assert new File(basedir, 'build.log').text =~ /\[ERROR\].*is no folder/
assert !new File(basedir, 'target/classes').exists()
