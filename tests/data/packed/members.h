#include <vector>
#include <sstream>
#include "Rtypes.h"
inline double r(){static unsigned x=7; x=x*1664525u+1013904223u; return (x>>8)*(9.9/(1<<24));}
struct Item {
Double32_t m0=0; //
Double32_t a0[2][3]={}; //
Float16_t m1=0; //
Float16_t a1[2][3]={}; //
Double32_t m2=0; //[0,10]
Double32_t a2[2][3]={}; //[0,10]
Float16_t m3=0; //[0,10]
Float16_t a3[2][3]={}; //[0,10]
Double32_t m4=0; //[-10,10,12]
Double32_t a4[2][3]={}; //[-10,10,12]
Float16_t m5=0; //[-10,10,12]
Float16_t a5[2][3]={}; //[-10,10,12]
Double32_t m6=0; //[-3,7,31]
Double32_t a6[2][3]={}; //[-3,7,31]
Float16_t m7=0; //[-3,7,31]
Float16_t a7[2][3]={}; //[-3,7,31]
Double32_t m8=0; //[0,10,32]
Double32_t a8[2][3]={}; //[0,10,32]
Float16_t m9=0; //[0,10,32]
Float16_t a9[2][3]={}; //[0,10,32]
Double32_t m10=0; //[0,0,5]
Double32_t a10[2][3]={}; //[0,0,5]
Float16_t m11=0; //[0,0,5]
Float16_t a11[2][3]={}; //[0,0,5]
Double32_t m12=0; //[0,2pi,12] angle
Double32_t a12[2][3]={}; //[0,2pi,12] angle
Float16_t m13=0; //[0,2pi,12] angle
Float16_t a13[2][3]={}; //[0,2pi,12] angle
void fill(){m0=r(); for(int i=0;i<6;i++) a0[i/3][i%3]=r();m1=r(); for(int i=0;i<6;i++) a1[i/3][i%3]=r();m2=r(); for(int i=0;i<6;i++) a2[i/3][i%3]=r();m3=r(); for(int i=0;i<6;i++) a3[i/3][i%3]=r();m4=r(); for(int i=0;i<6;i++) a4[i/3][i%3]=r();m5=r(); for(int i=0;i<6;i++) a5[i/3][i%3]=r();m6=r(); for(int i=0;i<6;i++) a6[i/3][i%3]=r();m7=r(); for(int i=0;i<6;i++) a7[i/3][i%3]=r();m8=r(); for(int i=0;i<6;i++) a8[i/3][i%3]=r();m9=r(); for(int i=0;i<6;i++) a9[i/3][i%3]=r();m10=r(); for(int i=0;i<6;i++) a10[i/3][i%3]=r();m11=r(); for(int i=0;i<6;i++) a11[i/3][i%3]=r();m12=r(); for(int i=0;i<6;i++) a12[i/3][i%3]=r();m13=r(); for(int i=0;i<6;i++) a13[i/3][i%3]=r();}
void js(std::ostream&s){s<<"{";s<<"\"m0\":"<<(double)m0<<",\"a0\":["; for(int i=0;i<2;i++){s<<(i?",[":"[");for(int j=0;j<3;j++)s<<(j?",":"")<<(double)a0[i][j];s<<"]";} s<<"]";s<<",\"m1\":"<<(double)m1<<",\"a1\":["; for(int i=0;i<2;i++){s<<(i?",[":"[");for(int j=0;j<3;j++)s<<(j?",":"")<<(double)a1[i][j];s<<"]";} s<<"]";s<<",\"m2\":"<<(double)m2<<",\"a2\":["; for(int i=0;i<2;i++){s<<(i?",[":"[");for(int j=0;j<3;j++)s<<(j?",":"")<<(double)a2[i][j];s<<"]";} s<<"]";s<<",\"m3\":"<<(double)m3<<",\"a3\":["; for(int i=0;i<2;i++){s<<(i?",[":"[");for(int j=0;j<3;j++)s<<(j?",":"")<<(double)a3[i][j];s<<"]";} s<<"]";s<<",\"m4\":"<<(double)m4<<",\"a4\":["; for(int i=0;i<2;i++){s<<(i?",[":"[");for(int j=0;j<3;j++)s<<(j?",":"")<<(double)a4[i][j];s<<"]";} s<<"]";s<<",\"m5\":"<<(double)m5<<",\"a5\":["; for(int i=0;i<2;i++){s<<(i?",[":"[");for(int j=0;j<3;j++)s<<(j?",":"")<<(double)a5[i][j];s<<"]";} s<<"]";s<<",\"m6\":"<<(double)m6<<",\"a6\":["; for(int i=0;i<2;i++){s<<(i?",[":"[");for(int j=0;j<3;j++)s<<(j?",":"")<<(double)a6[i][j];s<<"]";} s<<"]";s<<",\"m7\":"<<(double)m7<<",\"a7\":["; for(int i=0;i<2;i++){s<<(i?",[":"[");for(int j=0;j<3;j++)s<<(j?",":"")<<(double)a7[i][j];s<<"]";} s<<"]";s<<",\"m8\":"<<(double)m8<<",\"a8\":["; for(int i=0;i<2;i++){s<<(i?",[":"[");for(int j=0;j<3;j++)s<<(j?",":"")<<(double)a8[i][j];s<<"]";} s<<"]";s<<",\"m9\":"<<(double)m9<<",\"a9\":["; for(int i=0;i<2;i++){s<<(i?",[":"[");for(int j=0;j<3;j++)s<<(j?",":"")<<(double)a9[i][j];s<<"]";} s<<"]";s<<",\"m10\":"<<(double)m10<<",\"a10\":["; for(int i=0;i<2;i++){s<<(i?",[":"[");for(int j=0;j<3;j++)s<<(j?",":"")<<(double)a10[i][j];s<<"]";} s<<"]";s<<",\"m11\":"<<(double)m11<<",\"a11\":["; for(int i=0;i<2;i++){s<<(i?",[":"[");for(int j=0;j<3;j++)s<<(j?",":"")<<(double)a11[i][j];s<<"]";} s<<"]";s<<",\"m12\":"<<(double)m12<<",\"a12\":["; for(int i=0;i<2;i++){s<<(i?",[":"[");for(int j=0;j<3;j++)s<<(j?",":"")<<(double)a12[i][j];s<<"]";} s<<"]";s<<",\"m13\":"<<(double)m13<<",\"a13\":["; for(int i=0;i<2;i++){s<<(i?",[":"[");for(int j=0;j<3;j++)s<<(j?",":"")<<(double)a13[i][j];s<<"]";} s<<"]";s<<"}";}
};
struct Event { int n=0;
Item one;
Double32_t* p=nullptr; //[n][0,10,16]
Float16_t* q=nullptr; //[n]
std::vector<Double32_t> vd; std::vector<Float16_t> vf; std::vector<Item> items;
void fill(int k){ n=k; one.fill(); delete[] p; delete[] q; p=new Double32_t[n]; q=new Float16_t[n]; for(int i=0;i<n;i++){p[i]=r();q[i]=r();} vd.clear();vf.clear(); for(int i=0;i<k%3;i++){vd.push_back(r());vf.push_back(r());} items.resize((k+1)%3); for(auto&e:items) e.fill(); }
std::string js(){ std::ostringstream s; s.precision(17); s<<"{\"one\":"; one.js(s); s<<",\"items\":["; for(size_t i=0;i<items.size();i++){ if(i) s<<","; items[i].js(s);} s<<"],\"p\":["; for(int i=0;i<n;i++) s<<(i?",":"")<<(double)p[i]; s<<"],\"q\":["; for(int i=0;i<n;i++) s<<(i?",":"")<<(double)q[i]; s<<"],\"vd\":["; for(size_t i=0;i<vd.size();i++) s<<(i?",":"")<<(double)vd[i]; s<<"],\"vf\":["; for(size_t i=0;i<vf.size();i++) s<<(i?",":"")<<(double)vf[i]; s<<"]}"; return s.str(); }
};
#ifdef __ROOTCLING__
#pragma link C++ class Item+;
#pragma link C++ class Event+;
#pragma link C++ class std::vector<Item>+;
#endif
