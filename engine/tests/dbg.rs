use yunti_engine::env::Env;
use yunti_engine::job::*;
use yunti_engine::library::builtin_classes;
#[test] fn dbg(){
  let a: Vec<String> = std::env::var("ARGS").unwrap().split(' ').map(|s| s.to_string()).collect();
  let mut spec = (applications().iter().find(|x| x.name==a[0]).unwrap().spec)();
  spec.inputs=vec![a[1].clone()]; spec.output=OutputTarget::Directory(a[2].clone().into()); spec.overwrite=true;
  spec.threads=Some(a[3].parse().unwrap()); spec.split_bytes=a[4].parse().unwrap();
  run(&spec,&Env::real(),&[builtin_classes()],&Control::new()).unwrap();
}
